"""Calls to models: what is asked, what came back, and what is kept of it.

A `Call` has a key under which its `Reply` is stored; a reply holds a text or a `Failure`, never
both. A `Client` sends one call. `ledger` looks replies up, `limits` are clients round a client,
`openai` is the one that reaches a network, `verdict`, `labels` and `reveals` read what was said.
"""

from memrepro.llm.call import Call, Client, Failure, Reply

__all__ = ["Call", "Client", "Failure", "Reply"]

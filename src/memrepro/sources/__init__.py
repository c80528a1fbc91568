"""Pinned sources: what is pinned (`pins`), how it is fetched (`fetch`), whether it still holds.

The modules are imported one by one: `verify` must start fast and needs none of what `fetch` needs.
"""

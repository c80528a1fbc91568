"""Retention policy: is what a policy prohibits kept out of memory, and everything else kept?

The steps, in order: `build`, `run`, `judge`, `score`. `guard` and `judge` hold the calls of the two
models, `grow` that of a model that proposes new sentences. Editions share policies and scoring;
`policy_change` runs the standard corpus with the policy set after the facts were kept.
"""

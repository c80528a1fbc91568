"""CIMemories (arXiv 2511.14937): is each attribute told where it is needed, and only there?

`profiles` checks the released profiles and `describe` counts them; `results` turns the released
results format into rows, and `samples` chooses among their trials. `generate` makes
profiles of our own from `tables`, by templates or with a model (`model_profiles`), and
`contradictions` refuses those that contradict themselves.
"""

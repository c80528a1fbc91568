"""InMind (arXiv 2607.24368): does a fact told long ago reach a question that does not look like it?

The steps, in order: `build`, `remember`, `judge`, `score`. `protocol` checks the data; `timeline`,
`payloads` and `submission` are the released file formats.
"""

"""`python -m memrepro`."""

from memrepro.cli import main

main()

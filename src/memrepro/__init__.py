"""memrepro: reproducible, auditable results for agent-memory benchmarks."""

__version__ = "0.1.0"

"""The benchmarks, one package each; rows in, rows out.

`inmind`, `cimemories` and `retention` are pure: each step (`build`, `remember`, `judge`, `score`;
retention's `run`) is a function of records, makes calls and reads replies, and sends none. What a
memory system must offer them is `Memory`, and `FactMemory` where facts are kept one by one.
"""

from memrepro.benchmarks.base import FactMemory, Memory

__all__ = ["FactMemory", "Memory"]

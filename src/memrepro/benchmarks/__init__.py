"""The benchmarks, one package each; rows in, rows out."""

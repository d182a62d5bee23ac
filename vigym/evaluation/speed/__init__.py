"""What environments cost: rows of figures for `vigym bench` and tests/benchmarks."""

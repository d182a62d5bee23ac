"""Speed of environments: measurements for `vigym bench` and tests/benchmarks."""

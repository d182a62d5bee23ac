"""Entry kernels: what Python calls, in one form for one environment and for batches."""

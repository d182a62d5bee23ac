"""Entry kernels: functions that Python calls, the same for one environment and for batches."""

"""The compiler of the kernels: lane values, table rows as objects, decorators. Only this folder imports numba."""

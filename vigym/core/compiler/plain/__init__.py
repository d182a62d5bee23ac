"""Plain Python in place of the compiler: kernels that a debugger steps through, for small cases.

A lane group is one environment, whose values are single floats: LANES is 1, the tables are those of
a batch, and a batch runs one environment after the other. The arithmetic is that of compiled
kernels but for fused multiply-adds. Steps take some thousand times as long.

Left out is what only compiled kernels have: rows of one environment side by side in lanes (packs
and runs, which compute the same), and single precision, which is an error.
"""

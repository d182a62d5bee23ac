"""Graph of a mechanism: tree, loops, degrees of freedom and effective masses."""

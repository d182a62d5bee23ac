"""The graph of a mechanism: its trees, the loops that close them, and what follows for freedoms and masses."""

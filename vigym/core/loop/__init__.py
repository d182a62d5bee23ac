"""Loops: constraints that close them, their elimination and their multipliers."""

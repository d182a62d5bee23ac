"""Mechanisms in motion: `simulator` steps them, the folders hold its state, tables, parameters and derivatives."""

"""Simulation of mechanisms: the `simulator`, its state, parameters and linearisation."""

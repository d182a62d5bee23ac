"""Oracles of the tests: a slow twin of the step, written from the equations alone, and published solutions."""

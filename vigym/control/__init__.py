"""Scripted controllers: callables `observation, info -> action` with named parameters."""

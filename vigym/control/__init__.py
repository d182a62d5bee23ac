"""Controllers: callables `observation, info -> action` with named parameters."""

"""The state of a simulator: options, coordinates, initial states, the arrays of a batch, readings."""

"""State of a simulator: options, coordinates, initial states, arrays of a batch, readings."""

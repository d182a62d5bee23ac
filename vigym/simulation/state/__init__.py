"""State of a simulator: options, memory, coordinates, initial states, readings."""

"""Bodies: their poses, their own equations of motion."""

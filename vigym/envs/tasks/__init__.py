"""Tasks: one short file per environment."""

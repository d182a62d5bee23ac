"""Tasks: one short file per environment, one base that runs them all."""

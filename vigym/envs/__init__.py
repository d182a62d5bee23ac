"""Environments: one short file per task, one runner for all of them."""

"""Quantities of a mechanism that differ between the environments of a batch."""

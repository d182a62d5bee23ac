"""Overlay on pictures: contact forces and energies."""

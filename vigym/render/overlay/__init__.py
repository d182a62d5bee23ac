"""Marks over pictures: contact forces and energies."""

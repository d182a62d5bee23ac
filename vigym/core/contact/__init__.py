"""Contacts: geometry, the laws of contact and friction, contact forces in the equations."""

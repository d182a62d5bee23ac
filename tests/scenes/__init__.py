"""Scenes of the tests: mechanisms, states and motions, and what is measured of them."""

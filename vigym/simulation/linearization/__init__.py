"""Derivative of a step with respect to state and torques."""

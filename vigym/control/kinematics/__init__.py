"""Kinematics of robots with loops in closed form, and controllers of these robots."""

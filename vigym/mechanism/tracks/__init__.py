"""Curves and surfaces that bodies slide on, and joints of them."""

"""Joints of a mechanism as transforms of their coordinates, for trees of general joints."""

"""Mechanisms as an author describes them: named elements, checked when they are added."""

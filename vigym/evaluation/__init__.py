"""Scores of controllers: episodes played side by side, their figures, pictures and films."""

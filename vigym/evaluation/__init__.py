"""Evaluation of controllers: episodes played side by side, their metrics, plots and videos."""

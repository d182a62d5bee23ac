"""Trained policies as files that run no code, played with numpy alone."""

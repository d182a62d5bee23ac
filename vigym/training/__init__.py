"""Training with stable-baselines3 or SBX: recipes, runs and their files."""

"""Standard tasks: those of Gymnasium's MuJoCo v5, on robots with their figures."""

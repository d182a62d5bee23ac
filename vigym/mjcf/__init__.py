"""Import of MJCF files, MuJoCo's models: `load_mjcf`."""

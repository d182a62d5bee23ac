"""Import and export of MJCF files, MuJoCo's models: `load_mjcf`, `Mechanism.to_mjcf`."""

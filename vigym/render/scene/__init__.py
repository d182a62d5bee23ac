"""Scene of a mechanism: visuals, floor, light and camera."""

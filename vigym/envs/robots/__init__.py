"""Parts of the environment of any URDF file: its motors, and the state of a floating base."""

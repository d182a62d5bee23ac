"""Snake on skates: it follows its head, whereas waves of prescribed joint angles jam.

python examples/snake_skates.py
"""

import numpy as np

import vigym

GAITS = ("skating", "lateral_undulation")
SPEED, TURN = 0.65, 0.6  # of the skating gait [m/s, rad]
RAMP = 3.0  # of the skating gait [s]
SECONDS = 20.0  # of an episode


def main() -> dict[str, float]:
    """Print and return the speed [m/s] of each gait, and that of skating in closed form."""
    options = {"skates": True}
    scores = {name: vigym.evaluate("vigym/Snake-v0", name, 4, options=options) for name in GAITS}
    speeds = {name: float(score.column("speed").mean()) for name, score in scores.items()}
    along = np.cos(TURN * np.sin(np.linspace(0.0, np.pi, 1001)[:-1])).mean()  # J0 of the turn
    speeds["closed form"] = float(SPEED * along * (SECONDS - RAMP / 2.0) / SECONDS)
    for name, speed in speeds.items():
        print(f"{name:20} {speed:.3f} m/s")
    return speeds


if __name__ == "__main__":
    main()

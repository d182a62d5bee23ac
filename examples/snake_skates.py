"""On skates a snake goes where its head leads, or not at all: waves of prescribed angles jam.

python examples/snake_skates.py
"""

import numpy as np

import vigym

GAITS = ("skating", "lateral_undulation")
SPEED, TURN, RAMP, SECONDS = 0.65, 0.6, 3.0, 20.0  # of the skating gait, and of an episode


def main() -> dict[str, float]:
    """Print and return the speed [m/s] of each gait, and that of the head's wave in closed form."""
    scores = {name: vigym.evaluate("vigym/Snake-v0", name, 4, options={"skates": True}) for name in GAITS}
    speeds = {name: float(score.column("speed").mean()) for name, score in scores.items()}
    along = np.cos(TURN * np.sin(np.linspace(0.0, np.pi, 1001)[:-1])).mean()  # J0 of the turn
    speeds["closed form"] = float(SPEED * along * (SECONDS - RAMP / 2.0) / SECONDS)
    for name, speed in speeds.items():
        print(f"{name:20} {speed:.3f} m/s")
    return speeds


if __name__ == "__main__":
    main()

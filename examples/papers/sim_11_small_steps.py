"""SIM Fig. 11: pendulums of scale 1, 0.5 and 0.1, steps down to 1e-5 of the scale.

Mass s, length s^2, so that the period goes with s; from the side at rest, for half a period: then
it stands on the other side. The paper prints the period of small swings, from which a swing of a
right angle differs by a factor of 1.18; here the half period is that of the swing itself. At a
turning point an error of time of second order is one of angle of fourth order.
"""

from __future__ import annotations

import _figure as fig
import numpy as np
from _mechanisms import Y

import vigym

SCALES = {1.0: ("#b0559a", "-"), 0.5: (fig.THIRD, "--"), 0.1: ("#3a8f5c", ":")}
STEPS = {
    fig.QUICK: (1e-1, 1e-2, 1e-3),
    fig.PAGE: (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5),
}
STEPS[fig.FULL] = STEPS[fig.PAGE]
SLOWER = 1.1803405990160962  # period of a swing of a right angle, over that of small swings
GRAVITY = 9.81  # [m/s^2]


def swing(scale: float, step: float) -> tuple[float, float, float]:
    """Return mean iterations, the error of the last angle [rad], and the largest energy error.

    Args:
        scale: s.
        step: step size over s [s].
    """
    mass, length = scale, scale**2
    mech = vigym.Mechanism(gravity=(0.0, 0.0, -GRAVITY))
    moment = mass * length**2 / 12.0  # a third of m l^2 about the hinge
    mech.add_body("rod", mass, np.full(3, moment), (0.0, 0.0, -length / 2))
    mech.add_joint("hinge", "revolute", "world", "rod", (0.0, 0.0, 0.0), Y)
    half = SLOWER * np.pi * np.sqrt(2.0 / 3.0 * length / GRAVITY)
    count = round(half / (step * scale))
    sim = vigym.Simulator(mech, half / count)
    sim.reset(positions={"hinge": np.pi / 2})
    start = sim.energy().total
    iterations, drift = 0, 0.0
    for block in np.array_split(np.arange(count), min(count, 1000)):
        status = sim.step(substeps=len(block))
        assert status.converged
        iterations += int(status.iterations)
        drift = max(drift, abs(float(sim.energy().total - start)))
    error = abs(-np.pi / 2 - float(sim.joint_positions[0]))
    return iterations / count, error, drift / (mass * GRAVITY * length / 2)


def main(
    out: str = "sim_11_small_steps.png", size: str = fig.PAGE
) -> dict[float, list[list[float]]]:
    """Draw and print; return iterations, errors [rad] and energy errors by scale and step."""
    figure, (iterations, error) = fig.panels(1, 2, ["a  iterations of a step", "b  last angle"])
    found: dict[float, list[list[float]]] = {}
    for scale, (color, style) in SCALES.items():
        columns = zip(*(swing(scale, step) for step in STEPS[size]), strict=True)
        found[scale] = [list(column) for column in columns]
        label = f"s = {scale:g}"
        iterations.semilogx(STEPS[size], found[scale][0], style, color=color, label=label)
        error.loglog(STEPS[size], found[scale][1], style, color=color, label=label)
    steps = np.array(STEPS[size])
    error.loglog(
        steps[:5], found[1.0][1][1] * (steps[:5] / steps[1]) ** 4, color="grey", linewidth=0.7
    )
    iterations.set(xlabel="step / s [s]", ylim=(0.0, None))
    error.set(xlabel="step / s [s]; grey: fourth power", ylabel="error of the last angle [rad]")
    fig.save(figure, out)
    names = ("iterations", "error of the last angle [rad]", "energy error / m g l / 2")
    rows = [
        [f"s = {scale:g}: {name}", *values]
        for scale, columns in found.items()
        for name, values in zip(names, columns, strict=True)
    ]
    title = "SIM Fig. 11; in the paper iterations rise for small steps, and all are accurate"
    fig.report(title, ["", *(f"{step:g}" for step in STEPS[size])], rows)
    return found


if __name__ == "__main__":
    fig.command(main)

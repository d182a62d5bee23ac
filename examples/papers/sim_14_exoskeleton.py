"""SIM Fig. 14: gains of an exoskeleton on a healthy and a spastic arm.

Two loops are closed by cuffs of springs and dampers. The elbow's torque is to stay within 5 N m for
both arms: with the original gains it does not for the spastic one; a search finds adapted gains.
"""

from __future__ import annotations

import _figure as fig
import gymnasium
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

import vigym
from vigym.training.search import Parameter, Search, search_parameters

NAME = "vigym/Exoskeleton-v0"
ORIGINAL = {"elbow_kp": 60.0, "elbow_kd": 3.0}  # [N m/rad, N m s/rad]
SPREADS = {"elbow_kp": 15.0, "elbow_kd": 1.0}
LIMIT = 5.0  # of a comfortable torque [N m]
CANDIDATES = {fig.QUICK: 24, fig.PAGE: 60, fig.FULL: 200}


def adapted_gains(candidates: int) -> dict[str, float]:
    """Return gains that a search finds for the spastic arm."""
    starts = {name: Parameter(start, SPREADS[name], lower=0.0) for name, start in ORIGINAL.items()}
    search = Search(
        env_id=NAME,
        controller="tracking",
        parameters=starts,
        options={"patient": "spastic", "torque_limit": 0.95 * LIMIT},
        episodes=candidates,
    )
    return max(search_parameters(search), key=lambda one: one.merit).parameters


def felt(gains: dict[str, float], patient: str) -> dict[str, NDArray[np.float64]]:
    """Return torque [N m] and error [rad] of the elbow over an episode."""
    controller = ",".join(["tracking", *(f"{name}={value}" for name, value in gains.items())])
    traces = ("elbow_torque", "elbow_error")
    options = {"patient": patient}
    scores = vigym.evaluate(NAME, controller, episodes=1, options=options, traces=traces)
    return {name: np.asarray(scores.rows[0].traces[name]) for name in traces}


def draw_arm(panel: Axes) -> None:
    """Draw arm and exoskeleton."""
    env = gymnasium.make(NAME, render_mode="rgb_array", width=480, height=480)
    env.reset(seed=0)
    panel.imshow(np.asarray(env.render()))
    panel.axis("off")
    env.close()


def main(
    out: str = "sim_14_exoskeleton.png", size: str = fig.PAGE
) -> dict[tuple[str, str], tuple[float, float]]:
    """Draw arm and torques; print and return largest torques and errors by gains and patient."""
    figure, (arm, *torques) = fig.panels(
        1, 3, ["a  the arm", "c  original gains", "d  adapted gains"]
    )
    draw_arm(arm)
    gains = {"original": ORIGINAL, "adapted": adapted_gains(CANDIDATES[size])}
    found, rows = {}, []
    for panel, (name, values) in zip(torques, gains.items(), strict=True):
        for patient, color in (("healthy", fig.OURS), ("spastic", fig.THEIRS)):
            traces = felt(values, patient)
            torque, error = (float(np.abs(trace).max()) for trace in traces.values())
            found[name, patient] = torque, error
            panel.plot(traces["elbow_torque"], color=color, label=patient)
            printed = "beyond 5" if (name, patient) == ("original", "spastic") else "within 5"
            rows.append([name, patient, *values.values(), torque, printed, error])
        for limit in (-LIMIT, LIMIT):
            panel.axhline(limit, color="grey", linewidth=0.8)
        panel.set(xlabel="control step", ylabel="elbow torque [N m]")
    fig.save(figure, out)
    head = ["gains", "patient", "N m/rad", "N m s/rad", "torque [N m]", "paper", "error [rad]"]
    fig.report("SIM Fig. 14: largest torque and angle error of the elbow", head, rows)
    return found


if __name__ == "__main__":
    fig.command(main)

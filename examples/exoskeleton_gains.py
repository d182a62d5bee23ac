"""Gains of an exoskeleton for a spastic arm: searched until the elbow's torque is comfortable.

python examples/exoskeleton_gains.py 60         # candidates
"""

import sys

import vigym
from vigym.training.search import Parameter, Search, search_parameters

NAME = "vigym/Exoskeleton-v0"
ORIGINAL = {"elbow_kp": 60.0, "elbow_kd": 3.0}  # serve a healthy arm [N m/rad, N m s/rad]
SPREADS = {"elbow_kp": 15.0, "elbow_kd": 1.0}
LIMIT = 5.0  # of a comfortable torque [N m]


def largest(gains: dict[str, float], patient: str) -> dict[str, float]:
    """Return the largest torque [N m] and error [rad] of the elbow over an episode."""
    controller = ",".join(["tracking", *(f"{name}={value}" for name, value in gains.items())])
    traces = ("elbow_torque", "elbow_error")
    options = {"patient": patient}
    scores = vigym.evaluate(NAME, controller, episodes=1, options=options, traces=traces)
    return {name: float(abs(scores.rows[0].traces[name]).max()) for name in traces}


def main(candidates: int = 60) -> dict[tuple[str, str], dict[str, float]]:
    """Search gains for the spastic arm; print and return what both arms feel with both gains."""
    search = Search(
        env_id=NAME,
        controller="tracking",
        parameters={
            name: Parameter(start, SPREADS[name], lower=0.0) for name, start in ORIGINAL.items()
        },
        options={"patient": "spastic", "torque_limit": 0.95 * LIMIT},
        episodes=candidates,
    )
    best = max(search_parameters(search), key=lambda one: one.merit)
    adapted = best.parameters
    print(f"adapted gains: {adapted['elbow_kp']:.1f} N m/rad, {adapted['elbow_kd']:.2f} N m s/rad")
    found = {}
    for name, gains in (("original", ORIGINAL), ("adapted", adapted)):
        for patient in ("healthy", "spastic"):
            found[name, patient] = felt = largest(gains, patient)
            torque, error = felt["elbow_torque"], felt["elbow_error"]
            print(f"{name:8} {patient:7} torque {torque:.2f} N m, error {error:.2f} rad")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)

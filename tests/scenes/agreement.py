"""Side by side: the compiled stepper and the slow twin in one state, their readings compared at every knot."""

from __future__ import annotations

import numpy as np

AGREEMENT = 1e-9


def aligned(q, like):
    """The quaternions q with the signs of `like`: both stand for the same rotation."""
    return q * np.sign(np.sum(q * like, axis=-1, keepdims=True))


def joint_positions(twin, like):
    """All joint coordinates of the twin, quaternions with the signs of `like` (n_positions,)."""
    parts = []
    for joint in twin.joints:
        s, _, e = joint.coordinates(twin.x, twin.q)
        start = sum(map(len, parts)) + len(s)
        parts += [s, aligned(e, like[start : start + 4]) if joint.ball else twin.angles[joint.name]]
    return np.concatenate(parts)


def assert_same_knot(sim, twin):
    names = list(sim.mechanism.bodies)
    V, rates = twin.knot_velocities()
    orientations = np.array([sim.body_orientation(name) for name in names])
    kinetic, potential, _ = sim.energy()
    metrics = sim.metrics()
    for what, found, expected in (
        ("positions", [sim.body_position(name) for name in names], twin.x[1:]),
        ("orientations", aligned(orientations, twin.q[1:]), twin.q[1:]),
        ("velocities", [sim.body_velocity(name) for name in names], V[:, :3]),
        ("angular velocities", [sim.body_angular_velocity(name) for name in names], V[:, 3:]),
        ("joint positions", sim.joint_positions, joint_positions(twin, sim.joint_positions)),
        ("joint rates", sim.joint_velocities, rates),
        ("energies", [kinetic, potential], twin.energy()),
        ("work", metrics["work_actuator"], twin.work),
        ("dissipated", metrics["dissipated"], twin.dissipated()),
    ):
        np.testing.assert_allclose(found, expected, rtol=AGREEMENT, atol=AGREEMENT, err_msg=what)


def run_both(sim, twin, driven, steps, strength=2.0):
    """Step both under random torques on the freedoms `driven` (n_velocities,) and compare every tenth knot."""
    run_together([sim], twin, driven, steps, strength)


def run_together(sims, twin, driven, steps, strength=2.0):
    """The same with several simulators."""
    rng = np.random.default_rng(0)
    for sim in sims:
        assert_same_knot(sim, twin)
    for k in range(steps):
        u = strength * rng.normal(size=len(driven)) * driven
        twin.step(u)
        for sim in sims:
            assert sim.step(u[driven]).converged
            if k % 10 == 9:
                assert_same_knot(sim, twin)

"""Models of Gymnasium's MuJoCo environments: each loads, and steps under random torques."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

pytest.importorskip("mujoco")

from vigym import Simulator, load  # noqa: E402

ROUNDING = 1e-15  # of angles up to 2, which are read from quaternions
FOLDER = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
# model: step of its file [s] and steps of a control step
MODELS = {
    "ant": (0.01, 5),
    "half_cheetah": (0.01, 5),
    "hopper": (0.002, 4),
    "humanoid": (0.003, 5),
    "humanoidstandup": (0.003, 5),
    "inverted_double_pendulum": (0.01, 5),
    "inverted_pendulum": (0.02, 2),
    "pusher_v5": (0.01, 5),
    "reacher": (0.01, 2),
    "swimmer": (0.01, 4),
    "walker2d_v5": (0.002, 4),
}


@pytest.mark.parametrize("model", MODELS)
def test_every_step_under_random_torques_is_solved(model):
    mech = load(FOLDER / f"{model}.xml")
    timestep, frame_skip = MODELS[model]
    sim = Simulator(mech, timestep=timestep)
    efforts = np.array([joint.effort for joint in mech.actuated_joints])
    draw = np.random.default_rng(0)
    sim.reset()
    for _ in range(200):
        assert sim.step(
            draw.uniform(-1.0, 1.0, efforts.size) * efforts, substeps=frame_skip
        ).converged
    assert sim.metrics()["constraint_residual_max"] < 1e-10


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.xml")), ids=lambda path: path.stem)
def test_no_joint_starts_beyond_its_limits_in_silence(path):
    sim = Simulator(load(path))
    told = [note.element for note in sim.mechanism.notes if "beyond its limits" in note.message]
    start = dict(zip(sim.mechanism.position_names, sim.joint_positions, strict=True))
    for joint in sim.mechanism.joints.values():
        if joint.limits is not None and f"joint {joint.name!r}" not in told:
            low, high = joint.limits[0]
            assert low - ROUNDING <= start[joint.name] <= high + ROUNDING

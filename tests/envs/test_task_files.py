"""URDF files of tasks whose mechanisms are programs: they are those of the tasks."""

import numpy as np
import pytest

from scenes.task_files import NOTES, text
from vigym import assets, load_urdf
from vigym.envs.tasks.pendulum_chain import PendulumChain
from vigym.envs.tasks.snake_sidewinding import SnakeSidewinding

TASKS = {"pendulum_chain": PendulumChain, "snake_sidewinding": SnakeSidewinding}


@pytest.mark.parametrize("name", NOTES)
def test_files_are_up_to_date(name):
    assert assets.path(name).read_text() == text(name)


@pytest.mark.parametrize("name", NOTES)
def test_files_have_the_bodies_and_joints_of_the_tasks(name):
    expected = TASKS[name]().mechanism()
    found = load_urdf(assets.path(name), ground=expected.ground or False)
    assert list(found.bodies) == list(expected.bodies)
    assert found.actuator_names == expected.actuator_names
    assert found.degrees_of_freedom == expected.degrees_of_freedom
    assert len(found.contact_names) == len(expected.contact_names)
    for body, other in zip(found.bodies.values(), expected.bodies.values(), strict=True):
        assert body.mass == other.mass
        # sums of a few lengths of about a metre, each rounded to 1e-16
        np.testing.assert_allclose(body.position, other.position, atol=1e-14)
        np.testing.assert_allclose(body.inertia, other.inertia, atol=1e-14)
    for name_of, joint in expected.joints.items():
        assert found.joints[name_of].axis == pytest.approx(joint.axis, abs=1e-14)
        assert (found.joints[name_of].effort, found.joints[name_of].damping) == (
            joint.effort,
            joint.damping,
        )

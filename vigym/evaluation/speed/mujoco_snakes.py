"""Snakes of vigym in MuJoCo: models written from a mechanism, and environments to time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from vigym.envs.task import Task
from vigym.envs.tasks.snake import Snake
from vigym.envs.tasks.snake_sidewinding import SnakeSidewinding

TASKS = {"vigym/Snake-v0": Snake, "vigym/SnakeSidewinding-v0": SnakeSidewinding}
SNAKES = {name: name.replace("vigym/", "mujoco/") for name in TASKS}
TIMESTEP = 0.002  # the longest at which MuJoCo's snakes stay on the ground [s]
QUICKEST = 'cone="pyramidal" integrator="Euler" jacobian="dense"'
ALONE = '<flag island="disable"/>'  # a snake is a single island


class MujocoSnake(gym.Env[np.ndarray, np.ndarray]):
    """Snake in MuJoCo with bodies, motors, friction and control step of an environment of vigym.

    Contacts are as stiff as MuJoCo takes them. Its joints have no largest rate: targets move at
    that of vigym's joints, or else the snake leaps.

    Attributes:
        model: MuJoCo's model.
        data: MuJoCo's state.
        frame_skip: steps of `TIMESTEP` in a control step.
    """

    def __init__(self, task: Task) -> None:
        import mujoco

        mech = task.mechanism()
        self._step = mujoco.mj_step
        self._clear = mujoco.mj_resetData
        self._detect = mujoco.mj_fwdPosition
        self.model = write_snake(mech, TIMESTEP, f"{2.0 * TIMESTEP} 1", QUICKEST, ALONE)
        self.data = mujoco.MjData(self.model)
        self.frame_skip = round(task.timestep * task.frame_skip / TIMESTEP)
        self._noise = task.reset_noise_scale
        (rate,) = {joint.velocity for joint in mech.joints.values()}
        times = TIMESTEP * np.arange(1, self.frame_skip + 1)[:, None]
        self._reach = None if rate is None else rate * times
        motors, coordinates = self.model.nu, self.model.nq + self.model.nv
        self.action_space = gym.spaces.Box(-1.0, 1.0, (motors,), np.float32)
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (coordinates,), np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Put the snake straight on the ground, joint angles and rates with noise."""
        super().reset(seed=seed)
        self._clear(self.model, self.data)
        noise = self.np_random.uniform(-self._noise, self._noise, (2, self.model.nu))
        self.data.qpos[7:], self.data.qvel[6:] = noise
        self._detect(self.model, self.data)
        self.data.qpos[2] -= self.data.contact.dist.min(initial=0.0)
        return self._observe(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Hold the targets for a control step, or move them there at the joints' largest rate."""
        data = self.data
        if self._reach is None:
            data.ctrl[:] = action
            self._step(self.model, data, nstep=self.frame_skip)
        else:
            last = data.ctrl.copy()
            for row in last + np.clip(action - last, -self._reach, self._reach):
                data.ctrl[:] = row
                self._step(self.model, data)
        return self._observe(), float(self.data.qvel[0]), False, False, {}

    def _observe(self) -> np.ndarray:
        return np.concatenate((self.data.qpos, self.data.qvel))


for _name, _task in TASKS.items():
    gym.register(
        SNAKES[_name], f"{__name__}:MujocoSnake", max_episode_steps=500, kwargs={"task": _task()}
    )


def write_snake(mech: Any, timestep: float, solref: str, options: str, flags: str = "") -> Any:
    """Write MuJoCo's model of a floating chain of hinges on the plane z = 0.

    Its bodies are upright at assembly. Contact pairs carry the friction: a geom's own has one
    coefficient for all directions. The first tangent of a contact between plane and capsule is the
    capsule's axis, the second is across.

    Args:
        mech: the chain, a mechanism of vigym.
        timestep: of MuJoCo [s].
        solref: time constant [s] and damping ratio of contacts.
        options: attributes of MuJoCo's options.
        flags: element of them.
    """
    pairs = "".join(write_pair(one, one.name, solref) for one in mech.collisions.values())
    option = f'<option timestep="{timestep!r}" {options}>{flags}</option>'
    return write_model(mech, option, write_chain(mech, write_link), pairs)


def write_model(mech: Any, option: str, bodies: str, pairs: str) -> Any:
    """Write a model of bodies, contact pairs with the ground, and the mechanism's motors."""
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)
    floor = '<geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="0"/>'
    motors = "".join(_write_motor(mech, name) for name in mech.motors)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/>{option}<worldbody>{floor}{bodies}</worldbody>'
        f"<contact>{pairs}</contact><actuator>{motors}</actuator></mujoco>"
    )


def write_chain(mech: Any, inside: Callable[[Any, Any], str]) -> str:
    """Write each body within the one before it, frames at the centres of mass.

    Args:
        mech: the chain.
        inside: writes the shapes of a body.
    """
    text, carriers = "", {joint.child: joint for joint in mech.joints.values()}
    for body in mech.bodies.values():
        joint = carriers.get(body.name)
        place = body.position - (mech.bodies[joint.parent].position if joint else 0.0)
        text += f'<body pos="{write_numbers(place)}">'
        if joint is not None:
            anchor = write_numbers(joint.position - body.position)
            text += (
                f'<joint name="{joint.name}" type="hinge" pos="{anchor}" '
                f'axis="{write_numbers(joint.axis)}" limited="true" '
                f'range="{write_numbers(joint.limits)}" armature="{joint.armature!r}"/>'
            )
        text += inside(mech, body)
    return text + "</body>" * len(mech.bodies)


def write_link(mech: Any, body: Any) -> str:
    """Write a rigid link with its contacts; the first one floats."""
    text = "" if body.name in {joint.child for joint in mech.joints.values()} else "<freejoint/>"
    moments = write_numbers(np.diag(body.inertia))
    text += f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{moments}"/>'
    for collision in mech.collisions.values():
        if collision.body == body.name:
            text += (
                _write_ball(collision)
                if collision.shape is None
                else write_capsule(collision.name, collision.shape)
            )
    return text


def _write_ball(collision: Any) -> str:
    place = write_numbers(collision.position)
    return (
        f'<geom name="{collision.name}" type="sphere" size="{collision.radius!r}" pos="{place}" '
        f'contype="0" conaffinity="0"/>'
    )


def write_capsule(name: str, shape: Any, half: float | None = None) -> str:
    """Write a capsule, or one of another half length [m]."""
    size = f"{shape.radius!r} {(shape.length / 2 if half is None else half)!r}"
    return (
        f'<geom name="{name}" type="capsule" size="{size}" '
        f'quat="{write_numbers(shape.orientation)}" contype="0" conaffinity="0"/>'
    )


def write_pair(collision: Any, geom: str, solref: str) -> str:
    """Write contact with the floor.

    Capsules lie across the direction of their friction, or their friction has none.
    """
    along, across, _ = collision.friction
    friction = f"{across:.17g} {along:.17g} 0 0 0"
    return (
        f'<pair geom1="floor" geom2="{geom}" condim="3" friction="{friction}" solref="{solref}"/>'
    )


def _write_motor(mech: Any, joint: str) -> str:
    motor, effort = mech.motors[joint], mech.joints[joint].effort
    return (
        f'<position joint="{joint}" kp="{motor.kp!r}" kv="{motor.kd!r}" '
        f'forcerange="-{effort!r} {effort!r}"/>'
    )


def write_numbers(values: Any) -> str:
    """Write numbers with all their digits."""
    return " ".join(f"{value:.17g}" for value in np.ravel(values))

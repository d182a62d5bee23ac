"""Snakes of vigym in MuJoCo: masses, joints, motors and contacts are read from the mechanism itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from robot_models import Options

from vigym import Mechanism
from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.shapes import Capsule

SOFT = "0.02 1"  # MuJoCo's own time constant [s] and damping ratio of contacts
PRECISE = Options("elliptic", "implicitfast")
SIDES = {"left": 1.0, "right": -1.0}
NOTHING = (
    1e-6  # a mass [kg], inertia [kg m^2] or length [m] that changes nothing, where MuJoCo wants one
)


def mujoco_snake(
    mech: Mechanism, timestep: float, solref: str = SOFT, options: Options = PRECISE
) -> Any:
    """MuJoCo's model of a floating chain of hinges on the plane z = 0, its bodies upright at assembly.

    Contact pairs carry the friction: a geom's own has one coefficient for all directions. The first
        tangent of a contact between plane and capsule is the capsule's axis, the second is across;
        elliptic cones tell them apart.
    """
    pairs = "".join(
        _pair(collision, collision.name, solref) for collision in mech.collisions.values()
    )
    return _model(mech, timestep, _chain(mech, _solid), pairs, options)


def mujoco_suspended(mech: Mechanism, timestep: float, solref: str) -> Any:
    """MuJoCo's model of a planar snake that stands on all its points with the same load, whatever the engine.

    In the plane it is the same snake. Half the mass of a link slides up and down above each of its
    two points, and the link's inertia about the vertical is less by what that mass adds; the links
    themselves stay level. A flat rigid snake's loads are undetermined: there MuJoCo, whose contacts
    lift what slides, takes them from the links that do.
    """
    names = [f"{name}:{side}" for name in mech.collisions for side in SIDES]
    pairs = "".join(_pair(mech.collisions[name.partition(":")[0]], name, solref) for name in names)
    return _model(mech, timestep, _chain(mech, _suspended), pairs, PRECISE)


def _model(mech: Mechanism, timestep: float, bodies: str, pairs: str, options: Options) -> Any:
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)
    flags = " ".join(f'{name}="disable"' for name in options.disabled)
    option = f'<option timestep="{timestep!r}" {options.attributes}><flag {flags}/></option>'
    floor = '<geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="0"/>'
    motors = "".join(_motor(mech, name) for name in mech.motors)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/>{option}<worldbody>{floor}{bodies}</worldbody>'
        f"<contact>{pairs}</contact><actuator>{motors}</actuator></mujoco>"
    )


def _chain(mech: Mechanism, inside: Callable[[Mechanism, Body], str]) -> str:
    """Each body within the one before it, frames at the centres of mass; `inside` gives what a body is made of."""
    text, carriers = "", {joint.child: joint for joint in mech.joints.values()}
    for body in mech.bodies.values():
        joint = carriers.get(body.name)
        place = body.position - (mech.bodies[joint.parent].position if joint else 0.0)
        text += f'<body pos="{_numbers(place)}">'
        if joint is not None:
            anchor = _numbers(joint.position - body.position)
            text += (
                f'<joint name="{joint.name}" type="hinge" pos="{anchor}" axis="{_numbers(joint.axis)}" '
                f'limited="true" range="{_numbers(joint.limits)}" armature="{joint.armature!r}"/>'
            )
        text += inside(mech, body)
    return text + "</body>" * len(mech.bodies)


def _solid(mech: Mechanism, body: Body) -> str:
    """A rigid link; the first one floats."""
    text = "" if body.name in {joint.child for joint in mech.joints.values()} else "<freejoint/>"
    text += f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_numbers(np.diag(body.inertia))}"/>'
    for collision in mech.collisions.values():
        if collision.body == body.name:
            text += (
                _ball(collision)
                if collision.shape is None
                else _capsule(collision.name, collision.shape)
            )
    return text


def _suspended(mech: Mechanism, body: Body) -> str:
    """A link that moves in the plane, without mass of its own, and two masses that slide up and down on it."""
    (collision,) = (touching for touching in mech.collisions.values() if touching.body == body.name)
    half = collision.shape.length / 2
    left = float(body.inertia[2, 2]) - body.mass * half**2
    text = ""
    if body.name not in {joint.child for joint in mech.joints.values()}:
        text += '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>'
    text += f'<inertial pos="0 0 0" mass="{NOTHING}" diaginertia="{left!r} {left!r} {left!r}"/>'
    for side, sign in SIDES.items():
        ball = _capsule(
            f"{collision.name}:{side}", collision.shape, NOTHING
        )  # a ball has no axis to tell along by
        text += (
            f'<body pos="0 {sign * half!r} 0"><joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" '
            f'mass="{body.mass / 2!r}" diaginertia="{NOTHING} {NOTHING} {NOTHING}"/>{ball}</body>'
        )
    return text


def _ball(collision: Collision) -> str:
    place = _numbers(collision.position)
    return (
        f'<geom name="{collision.name}" type="sphere" size="{collision.radius!r}" pos="{place}" '
        f'contype="0" conaffinity="0"/>'
    )


def _capsule(name: str, shape: Capsule, half: float | None = None) -> str:
    length = shape.length / 2 if half is None else half
    return (
        f'<geom name="{name}" type="capsule" size="{shape.radius!r} {length!r}" quat="{_numbers(shape.orientation)}" '
        f'contype="0" conaffinity="0"/>'
    )


def _pair(collision: Collision, geom: str, solref: str) -> str:
    """What touches the floor: capsules that lie across the direction of their friction, or whose friction has none."""
    along, across, _ = collision.friction
    friction = f"{across:.17g} {along:.17g} 0 0 0"
    return (
        f'<pair geom1="floor" geom2="{geom}" condim="3" friction="{friction}" solref="{solref}"/>'
    )


def _motor(mech: Mechanism, joint: str) -> str:
    motor, effort = mech.motors[joint], mech.joints[joint].effort
    return f'<position joint="{joint}" kp="{motor.kp!r}" kv="{motor.kd!r}" forcerange="-{effort!r} {effort!r}"/>'


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(values))

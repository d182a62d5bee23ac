"""A snake of vigym in MuJoCo: masses, joints, motors and contacts are read from the mechanism itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from vigym import Mechanism
from vigym.mechanism.collisions import Collision
from vigym.mechanism.shapes import Capsule

SOFT = "0.02 1"  # MuJoCo's own time constant [s] and damping ratio of contacts


def mujoco_snake(mech: Mechanism, timestep: float, solref: str = SOFT) -> Any:
    """MuJoCo's model of a floating chain of hinges on the plane z = 0, its bodies upright at assembly.

    Contact pairs carry the friction: a geom's own has one coefficient for all directions. The first tangent of a
    contact between plane and capsule is the capsule's axis, the second is across; elliptic cones tell them apart.
    """
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)
    options = f'<option timestep="{timestep!r}" cone="elliptic" integrator="implicitfast" iterations="100"/>'
    floor = '<geom name="floor" type="plane" size="0 0 1" contype="0" conaffinity="0"/>'
    pairs = "".join(_pair(collision, solref) for collision in mech.collisions.values())
    motors = "".join(_motor(mech, name) for name in mech.motors)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/>{options}<worldbody>{floor}{_bodies(mech)}</worldbody>'
        f"<contact>{pairs}</contact><actuator>{motors}</actuator></mujoco>"
    )


def _bodies(mech: Mechanism) -> str:
    """Each body within the one before it; frames are at the centres of mass."""
    text, carriers = "", {joint.child: joint for joint in mech.joints.values()}
    for body in mech.bodies.values():
        joint = carriers.get(body.name)
        place = body.position - (mech.bodies[joint.parent].position if joint else 0.0)
        text += f'<body pos="{_numbers(place)}">'
        if joint is None:
            text += "<freejoint/>"
        else:
            anchor = _numbers(joint.position - body.position)
            text += (
                f'<joint name="{joint.name}" type="hinge" pos="{anchor}" axis="{_numbers(joint.axis)}" '
                f'limited="true" range="{_numbers(joint.limits)}"/>'
            )
        text += f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_numbers(np.diag(body.inertia))}"/>'
        text += "".join(_geom(touching) for touching in mech.collisions.values() if touching.body == body.name)
    return text + "</body>" * len(mech.bodies)


def _geom(collision: Collision) -> str:
    """A capsule, or a ball."""
    shape = collision.shape
    if isinstance(shape, Capsule):
        size = f"{shape.radius!r} {shape.length / 2!r}"
        kind = f'type="capsule" size="{size}" quat="{_numbers(shape.orientation)}"'
    else:
        kind = f'type="sphere" size="{collision.radius!r}"'
    return f'<geom name="{collision.name}" {kind} pos="{_numbers(collision.position)}" contype="0" conaffinity="0"/>'


def _pair(collision: Collision, solref: str) -> str:
    """What touches the floor; `direction` lies across the axis of a capsule."""
    along, across, _ = collision.friction
    friction = (across, along) if isinstance(collision.shape, Capsule) else (along, across)
    return (
        f'<pair geom1="floor" geom2="{collision.name}" condim="3" friction="{_numbers(friction)} 0 0 0" '
        f'solref="{solref}"/>'
    )


def _motor(mech: Mechanism, joint: str) -> str:
    motor, effort = mech.motors[joint], mech.joints[joint].effort
    return f'<position joint="{joint}" kp="{motor.kp!r}" kv="{motor.kd!r}" forcerange="-{effort!r} {effort!r}"/>'


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.17g}" for value in np.ravel(values))

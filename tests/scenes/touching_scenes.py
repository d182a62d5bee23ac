"""What touches, stops, drives and rolls in the tests: boxes, balls, pendulums between stops, legs, snakes, sleighs."""

from __future__ import annotations

import numpy as np

from scenes.trees import unit
from vigym import MINITAUR_MOTOR, Ground, Mechanism
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere

GRAVITY, UP = 9.81, (0.0, 0.0, 1.0)
EDGE = 0.5  # of the box of the published drop [m]; its mass is 1 kg


def tilted(angle):
    """Ground that falls along +x by an angle [rad]."""
    return Ground(normal=(np.sin(angle), 0.0, np.cos(angle)))


def turned(angle, axis):
    """Quaternion of a turn."""
    return np.append(
        np.cos(angle / 2.0), np.sin(angle / 2.0) * np.asarray(axis, float) / np.linalg.norm(axis)
    )


def box(
    height=EDGE / 2.0,
    friction=0.5,
    ground=None,
    orientation=(1, 0, 0, 0),
    size=(EDGE,) * 3,
    **options,
):
    """A box of 1 kg, its centre at a height [m] above the origin along the ground's normal."""
    ground = Ground() if ground is None else ground
    mech, size = Mechanism(ground=ground), np.asarray(size, float)
    inertia = (np.sum(size**2) - size**2) / 12.0
    mech.add_body("box", 1.0, inertia, height * np.asarray(ground.normal), orientation)
    mech.add_collision("box", "box", Box(size=tuple(size)), friction, **options)
    return mech


def box_on_slope(angle, friction=0.5, size=(EDGE,) * 3):
    """A box that lies on tilted ground."""
    return box(size[2] / 2.0, friction, tilted(angle), turned(angle, (0, 1, 0)), size)


def ball(height=0.1, radius=0.1, friction=0.5, ground=None, **options):
    """A solid ball of 1 kg."""
    ground = Ground() if ground is None else ground
    mech = Mechanism(ground=ground)
    mech.add_body("ball", 1.0, (0.4 * radius**2,) * 3, height * np.asarray(ground.normal))
    mech.add_collision("ball", "ball", Sphere(radius=radius), friction, **options)
    return mech


def cylinder(height, orientation=(1, 0, 0, 0), radius=0.1, length=0.3, friction=0.5):
    """A solid cylinder of 1 kg along its z axis."""
    mech = Mechanism(ground=True)
    across = radius**2 / 4.0 + length**2 / 12.0
    mech.add_body("can", 1.0, (across, across, radius**2 / 2.0), (0.0, 0.0, height), orientation)
    mech.add_collision("can", "can", Cylinder(radius=radius, length=length), friction)
    return mech


def capsule(height=0.08, friction=0.5, orientation=None, **options):
    """A capsule of 1 kg, lying by default along x."""
    orientation = turned(np.pi / 2.0, (0, 1, 0)) if orientation is None else orientation
    mech = Mechanism(ground=True)
    mech.add_body("pill", 1.0, (0.01, 0.01, 0.003), (0.0, 0.0, height), orientation)
    mech.add_collision("pill", "pill", Capsule(radius=0.08, length=0.3), friction, **options)
    return mech


def puck(friction=0.5, speed_direction=(1, 0, 0), **options):
    """A body of 1 kg on three balls, their centres at the height of its centre of mass: it slides and does not tip."""
    mech = Mechanism(ground=True)
    mech.add_body("puck", 1.0, (0.01, 0.01, 0.02), (0.0, 0.0, 0.05))
    for i, angle in enumerate(2.0 * np.pi * np.arange(3) / 3.0):
        place = (0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.0)
        mech.add_contact(
            f"foot{i}", "puck", place, 0.05, friction, direction=speed_direction, **options
        )
    return mech


def point_mass(height, friction=0.5, **options):
    """A ball without extent: one contact point in the centre of mass."""
    mech = Mechanism(ground=True)
    mech.add_body("mass", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, height))
    mech.add_contact("mass", "mass", (0.0, 0.0, 0.0), 0.0, friction, **options)
    return mech


def rod(mech, name, top, mass=1.0, length=1.0):
    """A uniform rod that hangs down from a point."""
    moment = mass * length**2 / 12.0
    mech.add_body(
        name, mass, (moment, moment, 1e-3 * mass), np.asarray(top) - [0.0, 0.0, length / 2.0]
    )


def pendulum(**options):
    """A uniform rod of 1 m and 1 kg on a hinge about y."""
    mech = Mechanism()
    rod(mech, "arm", (0.0, 0.0, 0.0))
    mech.add_joint("pin", "revolute", "world", "arm", (0.0, 0.0, 0.0), (0, 1, 0), **options)
    return mech


def double_pendulum(shoulder=None, elbow=None, **options):
    """Two rods of 1 m and 1 kg on hinges about y; `shoulder`, `elbow`: limits [rad]."""
    mech = Mechanism()
    rod(mech, "upper", (0.0, 0.0, 0.0))
    rod(mech, "lower", (0.0, 0.0, -1.0))
    mech.add_joint(
        "shoulder",
        "revolute",
        "world",
        "upper",
        (0.0, 0.0, 0.0),
        (0, 1, 0),
        limits=shoulder,
        **options,
    )
    mech.add_joint(
        "elbow", "revolute", "upper", "lower", (0.0, 0.0, -1.0), (0, 1, 0), limits=elbow, **options
    )
    return mech


def slider(mass=1.0, **options):
    """A mass on a rail along x."""
    mech = Mechanism()
    mech.add_body("cart", mass, (0.1, 0.1, 0.1))
    mech.add_joint("rail", "prismatic", "world", "cart", (0.0, 0.0, 0.0), (1, 0, 0), **options)
    return mech


def wheel_drive(**options):
    """A flywheel of 0.1 kg m^2 on a hinge, no gravity on it."""
    mech = Mechanism()
    mech.add_body("disc", 1.0, (0.06, 0.1, 0.06))
    mech.add_joint("axle", "revolute", "world", "disc", (0.0, 0.0, 0.0), (0, 1, 0), **options)
    return mech


def limb(mech, name, start, end, mass):
    """A slender bar between two points of the x z plane, its body axes the world's."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    way = end - start
    moment = mass / 12.0 * (way @ way * np.eye(3) - np.outer(way, way)) + 1e-5 * np.eye(3)
    mech.add_body(name, mass, moment, (start + end) / 2.0)


def add_five_bar(
    mech, base, hip, tag="", effort=3.5, friction=0.6, foot=True, motors=(), limits=None
):
    """A closed leg below a hip (3,): two driven upper bars, two lower ones that meet at the foot."""
    hip, low = np.asarray(hip, float), np.array([0.0, 0.0, -0.2])
    for side, sign in (("front", 1.0), ("back", -1.0)):
        knee = hip + [sign * 0.09, 0.0, -0.04]
        limb(mech, f"{side}_upper{tag}", hip, knee, 0.1)
        limb(mech, f"{side}_lower{tag}", knee, hip + low, 0.06)
        values = {"effort": effort, "armature": 1e-4, "limits": limits}
        mech.add_joint(
            f"{side}_hip{tag}", "revolute", base, f"{side}_upper{tag}", hip, (0, 1, 0), **values
        )
        mech.add_joint(
            f"{side}_knee{tag}",
            "revolute",
            f"{side}_upper{tag}",
            f"{side}_lower{tag}",
            knee,
            (0, 1, 0),
        )
        if motors:
            mech.add_motor(f"{side}_hip{tag}", *motors)
    mech.add_joint(
        f"ankle{tag}", "revolute", f"front_lower{tag}", f"back_lower{tag}", hip + low, (0, 1, 0)
    )
    if foot:
        place = hip + low - np.asarray(mech.bodies[f"front_lower{tag}"].position)
        mech.add_contact(f"foot{tag}", f"front_lower{tag}", place, 0.0, friction)


def fixed_leg(kp=50.0, kd=0.5, effort=1.0, limits=None):
    """A closed leg on a hip in the world, clear of any ground; motors at both hips."""
    mech = Mechanism()
    add_five_bar(
        mech, "world", (0.0, 0.0, 0.0), effort=effort, foot=False, motors=(kp, kd), limits=limits
    )
    return mech


def hopper(kp=50.0, kd=0.5, effort=3.5, clearance=0.0):
    """A closed leg under a trunk that slides up and down; its foot touches the ground."""
    mech = Mechanism(ground=True)
    top = 0.2 + clearance
    mech.add_body("trunk", 1.0, (0.01, 0.01, 0.01), (0.0, 0.0, top))
    mech.add_joint("lift", "prismatic", "world", "trunk", (0.0, 0.0, top), (0, 0, 1))
    add_five_bar(mech, "trunk", (0.0, 0.0, top), effort=effort, motors=(kp, kd))
    return mech


def quadruped(kp=60.0, kd=1.0, effort=30.0, clearance=0.0, friction=0.6):
    """A trunk of 8 kg on four legs of two hinges, ball feet; motors at all hinges hold the bent legs."""
    mech = Mechanism(ground=True)
    thigh = 0.2
    shank = 0.2
    foot = 0.02
    hip_angle, knee_angle = 0.6, -1.2
    down = [np.array([-np.sin(a), 0.0, -np.cos(a)]) for a in (hip_angle, hip_angle + knee_angle)]
    height = -(thigh * down[0] + shank * down[1])[2] + foot + clearance
    mech.add_body("trunk", 8.0, (0.05, 0.12, 0.15), (0.0, 0.0, height))
    mech.add_collision("trunk", "trunk", Box(size=(0.5, 0.2, 0.1)), friction)
    for leg, (x, y) in enumerate([(0.2, 0.12), (0.2, -0.12), (-0.2, 0.12), (-0.2, -0.12)]):
        hip = np.array([x, y, height])
        knee = hip + thigh * down[0]
        toe = knee + shank * down[1]
        limb(mech, f"thigh{leg}", hip, knee, 0.6)
        limb(mech, f"shank{leg}", knee, toe, 0.2)
        values = {"effort": effort, "damping": 0.05, "armature": 4e-3}
        mech.add_joint(f"hip{leg}", "revolute", "trunk", f"thigh{leg}", hip, (0, 1, 0), **values)
        mech.add_joint(
            f"knee{leg}", "revolute", f"thigh{leg}", f"shank{leg}", knee, (0, 1, 0), **values
        )
        mech.add_contact(f"foot{leg}", f"shank{leg}", toe - (knee + toe) / 2.0, foot, friction)
        mech.add_motor(f"hip{leg}", kp, kd)
        mech.add_motor(f"knee{leg}", kp, kd)
    return mech


def snake(links=5, friction=(0.04, 0.4), kp=20.0, kd=0.2):
    """Links of 0.1 m on balls, hinges about z between them, friction unlike along and across."""
    mech = Mechanism(ground=True)
    for i in range(links):
        limb(mech, f"link{i}", (0.1 * i, 0.0, 0.02), (0.1 * (i + 1), 0.0, 0.02), 0.1)
        for k, (x, y) in enumerate([(-0.03, 0.02), (0.03, -0.02)]):
            mech.add_contact(f"skin{i}.{k}", f"link{i}", (x, y, 0.0), 0.02, friction)
        if i:
            place = (0.1 * i, 0.0, 0.02)
            mech.add_joint(
                f"bend{i}", "revolute", f"link{i - 1}", f"link{i}", place, (0, 0, 1), effort=2.0
            )
            mech.add_motor(f"bend{i}", kp, kd)
    return mech


def sleigh(offset=0.2):
    """Chaplygin's: a body that slides freely in the plane on one blade, `offset` [m] behind its centre of mass."""
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("sleigh", 2.0, (0.2, 0.2, 0.3))
    mech.add_joint("plane", "planar", "world", "sleigh", (0.0, 0.0, 0.0), UP)
    mech.add_skate("blade", "sleigh", (-offset, 0.0, 0.0), (0, 1, 0))
    return mech


def unicycle(radius=0.1):
    """A wheel on an axle across a carrier that slides in the plane: it rolls without slip."""
    mech = Mechanism(ground=True)
    mech.add_body("carrier", 1.0, (0.02, 0.02, 0.03), (0.0, 0.0, radius))
    spin = 0.5 * 0.5 * radius**2
    mech.add_body("wheel", 0.5, (0.5 * spin, spin, 0.5 * spin), (0.0, 0.0, radius))
    mech.add_joint("plane", "planar", "world", "carrier", (0.0, 0.0, radius), UP)
    mech.add_joint(
        "axle", "revolute", "carrier", "wheel", (0.0, 0.0, radius), (0, 1, 0), effort=np.inf
    )
    mech.add_wheel("tyre", "wheel", (0.0, 0.0, 0.0), (0, 1, 0), radius)
    return mech


LEANING_AXLE, LEANING_CENTRE = unit(np.array([0.1, 1.0, 0.2])), np.array([0.03, 0.0, -0.02])


def leaning_spoke(radius=0.1):
    """From the centre of the leaning wheel to where it touches [m]."""
    return radius * unit(LEANING_AXLE[2] * LEANING_AXLE - UP)


def leaning_wheel(radius=0.1):
    """A wheel of a free body that leans, whose axle is neither through its centre of mass nor level."""
    mech, place = Mechanism(ground=True), -(LEANING_CENTRE + leaning_spoke(radius)) * UP
    mech.add_body("frame", 1.0, (0.02, 0.03, 0.04), place)
    mech.add_joint("free", "floating", "world", "frame", place)
    mech.add_wheel("tyre", "frame", LEANING_CENTRE, LEANING_AXLE, radius)
    return mech


def leaning_rates(spin, radius=0.1):
    """Velocities of that body where its wheel rolls."""
    return (*np.cross(LEANING_CENTRE + leaning_spoke(radius), spin), *spin)


def cart(radius=0.1, **axles):
    """A body that slides in the plane on two wheels, each free on one axle across it."""
    mech = Mechanism(ground=True)
    mech.add_body("cart", 1.0, (0.01, 0.012, 0.015), (0.0, 0.0, radius))
    mech.add_joint("plane", "planar", "world", "cart", (0.0, 0.0, radius), UP)
    spin = 0.2 * 0.5 * radius**2
    for name, side in (("left", 2.0 * radius), ("right", -2.0 * radius)):
        centre = (0.0, side, radius)
        mech.add_body(name, 0.2, (0.5 * spin, spin, 0.5 * spin), centre)
        mech.add_joint(f"{name}_axle", "revolute", "cart", name, centre, (0, 1, 0), **axles)
        mech.add_wheel(f"{name}_tyre", name, (0.0, 0.0, 0.0), (0, 1, 0), radius)
    return mech


def geared(ratio=-2.0, **options):
    """Two flywheels on hinges about y, the second `ratio` times as fast."""
    mech = Mechanism()
    for i, moment in enumerate((0.1, 0.02)):
        mech.add_body(f"disc{i}", 1.0, (0.06, moment, 0.06), (0.5 * i, 0.0, 0.0))
        mech.add_joint(
            f"axle{i}", "revolute", "world", f"disc{i}", (0.5 * i, 0.0, 0.0), (0, 1, 0), effort=10.0
        )
    mech.add_coupling("gear", "gear", "axle1", "axle0", ratio, **options)
    return mech


def screw(lead=0.01):
    """A nut of 1 kg that turns and sinks on a vertical thread."""
    mech = Mechanism()
    mech.add_body("nut", 1.0, (0.01, 0.01, 0.001))
    mech.add_joint("thread", "cylindrical", "world", "nut", (0.0, 0.0, 0.0), UP)
    mech.add_coupling("pitch", "screw", "thread.distance", "thread.angle", lead)
    return mech


def driven_parallelogram(rates, effort):
    """Three rods between two hinges of the world; motors of some largest `rates` on the first two hinges."""
    mech = Mechanism()
    corners = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, -0.2), (0.1, 0.0, -0.2), (0.1, 0.0, 0.0)])
    for name, first, last in zip("abc", corners, corners[1:], strict=False):
        limb(mech, name, first, last, 0.1)
    ends = (("world", "a"), ("a", "b"), ("b", "c"), ("world", "c"))
    for i, (corner, (parent, child)) in enumerate(zip(corners, ends, strict=True)):
        driven = {"effort": effort, "velocity": rates[i]} if i < 2 else {}
        mech.add_joint(f"hinge{i}", "revolute", parent, child, corner, (0, 1, 0), **driven)
    for i in range(2):
        mech.add_motor(f"hinge{i}", 0.0, 0.05)
    return mech


def dc_drive(kp=1.0, kd=0.0, inertia=0.01):
    """The Minitaur's motor on a flywheel."""
    mech = Mechanism()
    mech.add_body("disc", 1.0, (inertia, inertia, inertia))
    mech.add_joint("axle", "revolute", "world", "disc", (0.0, 0.0, 0.0), (0, 1, 0), effort=3.5)
    mech.add_motor("axle", kp, kd, model=MINITAUR_MOTOR)
    return mech

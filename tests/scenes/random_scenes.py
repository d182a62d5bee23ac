"""Random scenes of contact: drops, spins, stacks, pairs, spheres, legs, walkers and nets.

Sizes are 1 cm to 10 m, mass ratios up to 1e4, friction 0 to 5, steps 1e-5 to 2e-2 s. A scene is a function of
its kind and a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scenes.legged import GRAVITY, add_parallelogram_leg, add_torso, hip_place
from scenes.shapes import box_inertia
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere

HELD = 20  # steps for which motors keep their targets


@dataclass
class Scene:
    """A mechanism, its size [m], its start as arguments of ``reset``, and targets of motors (k, n) or None."""

    mech: Mechanism
    size: float
    start: dict[str, Any]
    targets: np.ndarray | None = None

    @property
    def weight(self) -> float:
        """Weight of all bodies [N]."""
        return GRAVITY * sum(body.mass for body in self.mech.bodies.values())

    def simulator(self, h: float) -> Simulator:
        """A simulator at the start of the scene."""
        sim = Simulator(self.mech, timestep=h)
        sim.reset(**self.start)
        return sim

    def step(self, sim: Simulator, k: int) -> Any:
        """Make step k of the scene, in every environment of a batch; returns its status."""
        if self.targets is None:
            return sim.step()
        targets = self.targets[k // HELD % len(self.targets)]
        return sim.step(targets=targets if sim.batch is None else [targets] * sim.batch)


def power_of_ten(rng, low, high):
    return float(10.0 ** rng.uniform(low, high))


def direction(rng, along=(0.0, 0.0, 0.0)):
    vector = rng.normal(size=3) + along
    return vector / np.linalg.norm(vector)


def orientation(rng, amount):
    """A unit quaternion near none, or any one where the amount is large."""
    turn = np.append(1.0, amount * rng.normal(size=3))
    return turn / np.linalg.norm(turn)


def random_friction(rng):
    return float(rng.choice([0.0, rng.uniform(0.0, 1.0), rng.uniform(1.0, 5.0), 5.0]))


def random_shape(rng, kind, size):
    """A shape, and the lengths of its box [m]."""
    a, b, c = size * rng.uniform(0.2, 1.0, 3)
    if kind == "sphere":
        return Sphere(a / 2.0), (a, a, a)
    if kind == "box":
        return Box((a, b, c)), (a, b, c)
    if kind == "capsule":
        return Capsule(a / 4.0, b), (a / 2.0, a / 2.0, b + a / 2.0)
    if kind == "disc":
        return Cylinder(b / 2.0, 0.05 * b), (b, b, 0.05 * b)
    return Cylinder(a / 2.0, b), (a, a, b)


def random_motion(rng, size):
    """Velocity and angular velocity of a fall: some lengths per time in which bodies fall by one."""
    fast = np.sqrt(GRAVITY * size) * power_of_ten(rng, -1.0, 0.7)
    motion = np.concatenate([fast * rng.normal(size=3), fast / size * rng.normal(size=3)])
    motion[2] = -abs(motion[2])
    return motion


def thrown(mech, size, rng, tilt=3.0, targets=None):
    """A scene of a mechanism whose joint ``base`` is free: tilted, on the ground, with random velocities."""
    pose = (0.0, 0.0, 0.0, *orientation(rng, rng.choice([0.1, tilt])))
    velocities = {"base": random_motion(rng, size)}
    start = {"positions": {"base": pose}, "velocities": velocities, "place_on_ground": True}
    return Scene(mech, size, start, targets)


def add_base(mech, name, mass, lengths):
    mech.add_body(name, mass, box_inertia(mass, lengths))
    mech.add_joint("base", "floating", "world", name, (0.0, 0.0, 0.0))


def drop(rng):
    """A box with one to three hinged arms, some with limits."""
    size, mass = power_of_ten(rng, -2, 1), power_of_ten(rng, -1, 2)
    friction = random_friction(rng)
    mech = Mechanism(ground=True)
    shape, lengths = random_shape(rng, "box", size)
    add_base(mech, "box", mass, lengths)
    mech.add_collision("box", "box", shape, friction=friction)
    for k in range(rng.integers(1, 4)):
        light = mass * power_of_ten(rng, -4, 1)
        shape, lengths = random_shape(rng, rng.choice(["box", "capsule", "sphere"]), size)
        place = 0.7 * size * rng.normal(size=3)
        mech.add_body(f"arm{k}", light, box_inertia(light, lengths), place, orientation(rng, 3.0))
        if rng.random() < 0.5:
            mech.add_collision(f"arm{k}", f"arm{k}", shape, friction=friction)
        limits = None if rng.random() < 0.6 else (-rng.uniform(), rng.uniform())
        parent = "box" if k == 0 or rng.random() < 0.5 else f"arm{k - 1}"
        hinge = rng.uniform(0.3, 0.8) * place, direction(rng)
        mech.add_joint(f"hinge{k}", "revolute", parent, f"arm{k}", *hinge, limits=limits)
    return thrown(mech, size, rng)


def spin(rng):
    """A cylinder, a disc or a hollow box that spins fast."""
    size, mass = power_of_ten(rng, -2, 1), power_of_ten(rng, -1, 2)
    mech = Mechanism(ground=True)
    kind = rng.choice(["cylinder", "disc", "box"])
    shape, lengths = random_shape(rng, kind, size)
    hollow = 2.0 if kind == "box" else 1.0
    mech.add_body("top", mass, hollow * box_inertia(mass, lengths))
    mech.add_joint("base", "floating", "world", "top", (0.0, 0.0, 0.0))
    torsion = rng.choice([0.0, 0.05 * size])
    mech.add_collision("top", "top", shape, friction=random_friction(rng), torsion=torsion)
    scene = thrown(mech, size, rng)
    rate = np.sqrt(GRAVITY / size) * power_of_ten(rng, -0.5, 2.0)
    scene.start["velocities"]["base"][3:] = rate * direction(rng)
    return scene


def stack(rng):
    """Two to five bodies on each other, of masses that rise, fall or come at random; some are pushed."""
    size, friction = power_of_ten(rng, -2, 1), random_friction(rng)
    mech = Mechanism(ground=True)
    count = int(rng.integers(2, 6))
    masses = 10.0 ** rng.uniform(-2.0, 2.0, count)
    order = rng.integers(3)
    masses = masses if order == 0 else np.sort(masses)[:: 1 if order == 1 else -1]
    aside, height = rng.choice([0.0, 1e-6, 1e-3, 0.05]), 0.0
    kinds = []
    for k, mass in enumerate(masses):
        flat = kinds and kinds[-1] == "box"
        kinds.append(
            str(rng.choice(["sphere", "capsule"] if flat else ["box", "sphere", "capsule"]))
        )
        shape, lengths = random_shape(rng, kinds[-1], size)
        place = np.append(aside * size * rng.normal(size=2), height + lengths[2] / 2.0)
        turn = orientation(rng, 0.1 * aside)
        mech.add_body(f"body{k}", mass, box_inertia(mass, lengths), place, turn)
        mech.add_collision(f"body{k}", f"body{k}", shape, friction=friction)
        height += lengths[2]
        for other in range(k):
            if "box" not in (kinds[other], kinds[k]) or kinds[other] != kinds[k]:
                mech.add_pair(f"body{other}", f"body{k}")
    push = rng.choice([0.0, 0.1, 1.0]) * random_motion(rng, size)[:3]
    base = {f"body{rng.integers(count)}": {"velocity": push}}
    return Scene(mech, count * size / 2.0, {"base": base, "place_on_ground": True})


def pair(rng):
    """A body that falls on another of 1e-4 to 1e4 of its mass, which lies on the ground."""
    size, friction = power_of_ten(rng, -2, 1), random_friction(rng)
    mech = Mechanism(ground=True)
    base, height = {}, 0.0
    kinds = ("box", "capsule") if rng.random() < 0.5 else ("capsule", "sphere")
    for name, kind, mass in zip("ab", kinds, (1.0, power_of_ten(rng, -4, 4)), strict=True):
        shape, lengths = random_shape(rng, kind, size)
        radius = shape.bounding_radius
        mech.add_body(name, mass, box_inertia(mass, lengths))
        mech.add_collision(name, name, shape, friction=friction)
        motion = random_motion(rng, size)
        place = (*(0.1 * size * rng.normal(size=2)), height + radius)
        base[name] = {"position": place, "orientation": orientation(rng, 3.0)}
        base[name] |= {"velocity": motion[:3], "angular_velocity": motion[3:]}
        height += 2.0 * radius
    mech.add_pair("a", "b")
    return Scene(mech, size, {"base": base})


def spheres(rng):
    """Two to fifteen spheres in a chain of ball joints, alike or of masses 1e-2 to 1e2 kg."""
    radius, friction = power_of_ten(rng, -2, 0), random_friction(rng)
    mech = Mechanism(ground=True)
    count, heavy = int(rng.integers(2, 16)), rng.random() < 0.5
    for k in range(count):
        mass = power_of_ten(rng, -2, 2) if heavy else 1.0
        place = np.array([2.0 * radius * k, 0.0, radius])
        mech.add_body(f"ball{k}", mass, (0.4 * mass * radius**2,) * 3, place)
        mech.add_collision(f"ball{k}", f"ball{k}", Sphere(radius), friction=friction)
        joint = place - (radius, 0.0, 0.0)
        if k == 0:
            mech.add_joint("base", "floating", "world", "ball0", place)
        else:
            mech.add_joint(f"joint{k}", "spherical", f"ball{k - 1}", f"ball{k}", joint)
    return thrown(mech, count * radius, rng, tilt=0.3)


def legs(rng):
    """A torso on one to four closed-loop legs of 1 to 1e-4 of its mass, with limits and dry friction."""
    size, friction = power_of_ten(rng, -2, 1), random_friction(rng)
    mech = Mechanism(ground=True)
    mass = add_torso(mech, size)
    light = mass * power_of_ten(rng, -4, 0)
    if rng.random() < 0.6:
        trunk = Box((0.4 * size, 0.3 * size, 0.1 * size))
        mech.add_collision("trunk", "torso", trunk, friction=friction)
    for k in range(rng.integers(1, 5)):
        hip = {"limits": (-rng.uniform(), rng.uniform())}
        knee = {"friction": rng.choice([0.0, 0.05 * light * 0.2 * size * GRAVITY])}
        if rng.random() < 0.4:
            knee["limits"] = -rng.uniform(0.0, 0.5), rng.uniform(0.0, 0.5)
        foot = {"friction": friction}
        add_parallelogram_leg(mech, f"leg{k}", hip_place(k, size), size, light, hip, knee, foot)
    return thrown(mech, size, rng, tilt=0.4)


def random_drive(rng, kind, size, torque):
    """Limits, dry friction and the motor's largest torque of a joint; of slides lengths and forces."""
    length = 1.0 if kind == "revolute" else size
    options = {}
    if rng.random() < 0.7:
        options["limits"] = -0.5 * length * rng.uniform(), 0.5 * length * rng.uniform()
    if rng.random() < 0.5:
        options["friction"] = torque / length * power_of_ten(rng, -4, -1)
    if rng.random() < 0.6:
        options["effort"] = torque / length * power_of_ten(rng, -3, 1)
        if rng.random() < 0.5:
            options["velocity"] = length * np.sqrt(GRAVITY / size) * power_of_ten(rng, -1, 1)
    return options


def walker(rng):
    """A random tree of two to ten links, with motors, limits, dry friction and contacts."""
    size, mass = power_of_ten(rng, -2, 1), power_of_ten(rng, -1, 2)
    friction = random_friction(rng)
    mech = Mechanism(ground=True)
    lengths = np.array([1.0, 0.6, 0.3]) * size
    add_base(mech, "link0", mass, lengths)
    mech.add_collision("link0", "link0", Box(tuple(lengths)), friction=friction)
    places, torque = [np.zeros(3)], mass * GRAVITY * size
    for k in range(1, int(rng.integers(2, 11)) + 1):
        parent = int(rng.integers(k))
        away = size * rng.uniform(0.2, 0.6) * direction(rng, (0.0, 0.0, -1.0))
        places.append(places[parent] + away)
        light, kind = mass * power_of_ten(rng, -4, 0), str(rng.choice(["revolute", "prismatic"]))
        moments = box_inertia(light, (0.1 * size, 0.1 * size, 0.4 * size))
        mech.add_body(f"link{k}", light, moments, places[k], orientation(rng, 3.0))
        options = random_drive(rng, kind, size, torque)
        joint = places[parent] + 0.5 * away, direction(rng)
        mech.add_joint(f"joint{k}", kind, f"link{parent}", f"link{k}", *joint, **options)
        if "effort" in options:
            stiffness = options["effort"] * power_of_ten(rng, 0, 3)
            damping = options["effort"] * power_of_ten(rng, -3, 0) * np.sqrt(size / GRAVITY)
            mech.add_motor(f"joint{k}", kp=stiffness, kd=damping)
        if rng.random() < 0.7:
            kind = str(rng.choice(["sphere", "capsule", "box", "cylinder"]))
            shape, _ = random_shape(rng, kind, 0.3 * size)
            mech.add_collision(f"link{k}", f"link{k}", shape, friction=friction)
    count = len(mech.motor_names)
    targets = 0.5 * rng.normal(size=(8, count)) if count else None
    return thrown(mech, size, rng, targets=targets)


def net(rng):
    """A net of two to three by two to four bodies on ball joints, not flat, that falls."""
    size, friction = power_of_ten(rng, -2, 1), random_friction(rng)
    heavy = rng.random() < 0.5
    mech = Mechanism(ground=True)
    rows, columns = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    rough = rng.choice([0.05, 0.1]) * size
    for i in range(rows):
        for j in range(columns):
            mass = power_of_ten(rng, -2, 2) if heavy else 1.0
            place = size * np.array([i, j, 0.0]) + rough * rng.normal(size=3)
            moments = box_inertia(mass, (size, size, 0.3 * size))
            mech.add_body(f"body{i}{j}", mass, moments, place)
            mech.add_collision(f"ball{i}{j}", f"body{i}{j}", Sphere(0.2 * size), friction=friction)
            middle = size * np.array([i, j, 0.0]) + rough * rng.normal(size=3)
            if i > 0:
                at = middle - (0.5 * size, 0.0, 0.0)
                mech.add_joint(f"x{i}{j}", "spherical", f"body{i - 1}{j}", f"body{i}{j}", at)
            if j > 0:
                at = middle - (0.0, 0.5 * size, 0.0)
                mech.add_joint(f"y{i}{j}", "spherical", f"body{i}{j - 1}", f"body{i}{j}", at)
    mech.add_joint("base", "floating", "world", "body00", (0.0, 0.0, 0.0))
    return thrown(mech, size * max(rows, columns), rng)


KINDS: dict[str, Callable[[Any], Scene]] = {
    "drop": drop,
    "spin": spin,
    "stack": stack,
    "pair": pair,
    "spheres": spheres,
    "legs": legs,
    "walker": walker,
    "net": net,
}


def random_scene(kind, seed):
    """A scene, and the size of its steps [s]."""
    rng = np.random.default_rng([list(KINDS).index(kind), seed])
    h = power_of_ten(rng, *rng.choice([(-5.0, -3.0), (-3.0, -1.7), (-3.0, -1.7)]))
    return KINDS[kind](rng), h

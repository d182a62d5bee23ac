"""Snakes that crawl by scripted gaits: vigym beside equations of the plane, and beside MuJoCo, in one run.

python tests/benchmarks/snake.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from snake_models import SOFT, mujoco_snake, mujoco_suspended
from snake_plane import Plane, crawl

from vigym import Mechanism, Simulator
from vigym.control.serpenoid import Serpenoid, lateral_undulation, sidewinding
from vigym.envs.tasks import snake, snake_sidewinding
from vigym.evaluation.speed.timing import machine, table

LINKS, MODULES = 9, 16
FRICTIONS = ((0.4, 0.4), (0.1, 0.2), (0.04, 0.4), (0.01, 0.4))  # along and across
TIMESTEP = 0.002  # [s]
FINE = (
    TIMESTEP / 4
)  # for MuJoCo with equal loads, whose contacts are the stiffer the shorter the step is
STIFF, STIFFER = (
    f"{2 * TIMESTEP} 1",
    f"{2 * FINE} 1",
)  # the shortest time constant that MuJoCo takes at these steps
SECONDS, SETTLED = 8.0, 2.0  # length of a run and of its beginning, which is left out [s]
GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Crawl:
    """How a snake went, once it was under way.

    Attributes:
        velocity: mean of the centre of mass (2,) [m/s].
        power: mean of the sum of |torque x rate| [W].
        depth: deepest penetration [m].
        failures: steps the solver could not make.
    """

    velocity: np.ndarray
    power: float
    depth: float = 0.0
    failures: int = 0

    @property
    def speed(self) -> float:
        return float(np.hypot(*self.velocity))

    def cost_of_transport(self, mech: Mechanism) -> float:
        return self.power / (GRAVITY * sum(body.mass for body in mech.bodies.values()) * self.speed)


def planar(friction: tuple[float, float]) -> Mechanism:
    """The snake of vigym/Snake-v0."""
    along, across = friction
    return snake.Snake(links=LINKS, friction_along=along, friction_across=across).mechanism()


def undulation() -> Serpenoid:
    return lateral_undulation(LINKS - 1, snake.ACTION_SCALE)


def in_vigym(
    mech: Mechanism,
    gait: Serpenoid,
    timestep: float = TIMESTEP,
    seconds: float = SECONDS,
    hold: float = 0.0,
) -> Crawl:
    """Targets move with every step, or are held so long [s]."""
    sim = Simulator(mech, timestep=timestep)
    sim.reset(place_on_ground=True)
    places = []
    power = []
    depth = 0.0
    failures = 0
    for step in range(round(seconds / timestep)):
        failures += not sim.step(targets=gait.angles(_told(step, timestep, hold))).converged
        metrics = sim.metrics()
        places.append(sim.body_states[:, 0:2].mean(axis=0))
        power.append(metrics["power_mech"])
        depth = max(depth, metrics["penetration"])
    return _judge(np.array(places), np.array(power), timestep, depth, failures)


def in_mujoco(model: Any, gait: Serpenoid, seconds: float = SECONDS, hold: float = 0.0) -> Crawl:
    """The same in MuJoCo; bodies without a mass of their own do not count."""
    import mujoco

    data, timestep = mujoco.MjData(model), float(model.opt.timestep)
    heavy = np.flatnonzero(model.body_mass > 1e-3)
    turning = [model.jnt_dofadr[joint] for joint in model.actuator_trnid[:, 0]]
    places = []
    power = []
    depth = 0.0
    for step in range(round(seconds / timestep)):
        data.ctrl[:] = gait.angles(_told(step, timestep, hold))
        mujoco.mj_step(model, data)
        places.append(data.xipos[heavy, 0:2].mean(axis=0))
        power.append(np.abs(data.actuator_force * data.qvel[turning]).sum())
        depth = max(depth, -data.contact.dist.min(initial=0.0))
    return _judge(np.array(places), np.array(power), timestep, depth)


def _told(step: int, timestep: float, hold: float) -> float:
    """Time that the targets of a step are those of [s]."""
    every = max(1, round(hold / timestep))
    return step // every * every * timestep


def in_the_plane(
    mech: Mechanism, gait: Serpenoid, timestep: float = 2e-4, seconds: float = SECONDS
) -> Crawl:
    """The equations of the plane for a planar snake; creep as slow as the explicit step allows."""
    path, power = crawl(plane_of(mech), gait.angles, seconds, timestep, creep=5.0 * timestep)
    return _judge(path, power, timestep)


def plane_of(mech: Mechanism) -> Plane:
    """What the equations need to know of a planar snake."""
    body, joint = mech.bodies["link1"], mech.joints["joint1"]
    motor, belly = mech.motors["joint1"], mech.collisions["belly1"]
    along, across, _ = belly.friction
    return Plane(
        links=len(mech.bodies), length=snake.LENGTH, half=belly.shape.length / 2, mass=body.mass,
        inertia=body.inertia[2, 2], armature=joint.armature, kp=motor.kp, kd=motor.kd, effort=joint.effort,
        along=along, across=across,
    )  # fmt: skip


def _judge(
    path: np.ndarray, power: np.ndarray, timestep: float, depth: float = 0.0, failures: int = 0
) -> Crawl:
    start = round(SETTLED / timestep)
    velocity = (path[-1] - path[start]) / ((len(path) - 1 - start) * timestep)
    return Crawl(velocity, float(power[start:].mean()), depth, failures)


ENGINES: dict[str, Callable[[Mechanism], Crawl]] = {
    "vigym": lambda mech: in_vigym(mech, undulation()),
    "equations": lambda mech: in_the_plane(mech, undulation()),
    "MuJoCo, equal loads": lambda mech: in_mujoco(
        mujoco_suspended(mech, FINE, STIFFER), undulation()
    ),
    "MuJoCo, stiff": lambda mech: in_mujoco(mujoco_snake(mech, TIMESTEP, STIFF), undulation()),
    "MuJoCo, defaults": lambda mech: in_mujoco(mujoco_snake(mech, TIMESTEP, SOFT), undulation()),
}


def undulating() -> str:
    """Speeds of the planar snake by friction, then what they cost."""
    rows = []
    for friction in FRICTIONS:
        mech = planar(friction)
        crawls = [engine(mech) for engine in ENGINES.values()]
        ours = crawls[0]
        figures = [
            f"{ours.power:.2f}",
            f"{ours.cost_of_transport(mech):.2f}",
            f"{ours.depth:.0e}",
            f"{ours.failures}",
        ]
        rows.append(
            ["{} / {}".format(*friction), *[f"{found.speed:.4f}" for found in crawls], *figures]
        )
    head = ["along / across", *ENGINES, "power", "CoT", "depth", "failed"]
    return table(
        "speed [m/s]; power [W], cost of transport and penetration [m] of vigym", head, rows
    )


def sidewinding_too() -> str:
    """Speed and direction of the snake of alternating axes."""
    mech = snake_sidewinding.SnakeSidewinding(links=MODULES).mechanism()
    gait = sidewinding(MODULES - 1, snake_sidewinding.ACTION_SCALE)
    rows = []
    for name, found in (
        ("vigym", in_vigym(mech, gait)),
        ("MuJoCo, stiff", in_mujoco(mujoco_snake(mech, TIMESTEP, STIFF), gait)),
        ("MuJoCo, defaults", in_mujoco(mujoco_snake(mech, TIMESTEP, SOFT), gait)),
    ):
        way = np.degrees(np.arctan2(found.velocity[1], found.velocity[0]))
        figures = [
            f"{found.power:.2f}",
            f"{found.cost_of_transport(mech):.2f}",
            f"{found.depth:.0e}",
        ]
        rows.append([name, f"{found.speed:.4f}", f"{way:.0f}", *figures, f"{found.failures}"])
    return table("", ["sidewinding", "speed", "way [deg]", "power", "CoT", "depth", "failed"], rows)


def about(mech: Mechanism, gait: Serpenoid) -> str:
    """What moved: masses, gains and waves."""
    body = mech.bodies["link1"]
    joint = mech.joints["joint1"]
    motor = mech.motors["joint1"]
    waves = f"lateral {gait.lateral}" + (f"\n  dorsal {gait.dorsal}" if gait.dorsal else "")
    return (
        f"{mech.name}: {len(mech.bodies)} links of {body.mass:g} kg, inertia {np.diag(body.inertia)} kg m^2\n"
        f"  kp {motor.kp:g} N m/rad, kd {motor.kd:g} N m s/rad, effort {joint.effort:g} N m, "
        f"armature {joint.armature:g} kg m^2\n  {waves}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    print(machine())
    print(f"{SECONDS:g} s in steps of {TIMESTEP:g} s; means from {SETTLED:g} s on\n")
    print(about(planar(FRICTIONS[0]), undulation()))
    print(undulating() + "\n")
    modules = snake_sidewinding.SnakeSidewinding(links=MODULES).mechanism()
    print(about(modules, sidewinding(MODULES - 1, snake_sidewinding.ACTION_SCALE)))
    print(sidewinding_too())


if __name__ == "__main__":
    main()

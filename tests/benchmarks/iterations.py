"""Newton iterations of a step: environments under random held targets, lane groups, gaits, rolling chains.

python tests/benchmarks/iterations.py
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np

from vigym import Mechanism, Simulator
from vigym.control.minitaur_gaits import Gait, trot
from vigym.core.compiler.simd import LANES
from vigym.evaluation.speed.timing import machine, table

IDS = ("vigym/Snake-v0", "vigym/SnakeSidewinding-v0", "vigym/Minitaur-v0")
GROUPS = 8  # lane groups of a batch
STEPS = 1000  # steps of each environment
CHAINS = (5, 10, 20, 45, 100, 200)  # bodies
RADIUS = 0.25  # of the spheres of a chain [m]
GAITS = {"stands": trot(lift=0.0, swing=0.0), "trots": trot()}
SETTLING, WALKING = 1.0, 2.0  # parts of a run of a gait, of which the second counts [s]


def held_targets(name: str) -> np.ndarray:
    """Iterations (steps, environments) while every control step draws other targets."""
    held, step = (gym.make(name, **given).unwrapped for given in ({}, {"frame_skip": 1}))
    skip = round(held.dt / step.dt)
    envs = gym.make_vec(name, GROUPS * LANES, frame_skip=1)
    low, high = envs.action_space.low, envs.action_space.high
    draw = np.random.default_rng(0)
    envs.reset(seed=0)
    found = np.zeros((STEPS, envs.num_envs))
    for k in range(STEPS):
        if k % skip == 0:
            actions = draw.uniform(low, high).astype(np.float32)
        found[k] = envs.step(actions)[4]["solver_iterations"]
    envs.close()
    return found


def walking(gait: Gait, timestep: float) -> np.ndarray:
    """Iterations (steps,) of a single Minitaur on the way, with targets of its own in every step."""
    env = gym.make("vigym/Minitaur-v0", timestep=timestep, frame_skip=1)
    observation, info = env.reset(seed=0)
    found = []
    for _ in range(round((SETTLING + WALKING) / timestep)):
        observation, _, fallen, _, info = env.step(gait(observation, info))
        assert not fallen
        found.append(info["solver_iterations"])
    env.close()
    return np.array(found[round(SETTLING / timestep) :])


def rolling_chain(count: int) -> tuple[list[float], bool]:
    """Iterations of the steps of a chain of spheres that is pushed along the ground."""
    mech = Mechanism(ground=True)
    moment = 0.4 * RADIUS**2
    for i in range(count):
        place = 2.0 * RADIUS * i
        mech.add_body(f"ball{i}", 1.0, (moment,) * 3, position=(place, 0.0, RADIUS))
        mech.add_contact(f"skin{i}", f"ball{i}", (0.0, 0.0, 0.0), radius=RADIUS, friction=0.3)
        if i > 0:
            pin = (place - RADIUS, 0.0, RADIUS)
            mech.add_joint(f"pin{i}", "spherical", f"ball{i - 1}", f"ball{i}", pin)
    sim = Simulator(mech, timestep=0.01)
    push = np.random.default_rng(1).normal(size=len(sim.joint_velocities)) * 0.3 / count
    sim.reset(velocities=push)
    status = [sim.step() for _ in range(150)]
    return [s.iterations for s in status], all(s.converged for s in status)


def figures(found: np.ndarray) -> list[str]:
    """Mean, median, 99th percentile and largest of iterations."""
    return [f"{found.mean():.2f}", *(f"{np.percentile(found, q):.0f}" for q in (50, 99, 100))]


def environments() -> str:
    """Table of the environments, and of their lane groups: a group waits for its slowest lane."""
    rows = []
    for name in IDS:
        found = held_targets(name)
        slowest = found.reshape(STEPS, GROUPS, LANES).max(axis=2).mean()
        rows.append([name, *figures(found), f"{slowest:.2f}", f"{slowest / found.mean():.2f}"])
    head = ("environment", "mean", "median", "99 %", "largest", "slowest lane", "over mean")
    return table(f"Random held targets, groups of {LANES} lanes", head, rows)


def gaits() -> str:
    """Table of the Minitaur's gaits by step size."""
    rows = [
        [name, f"{1e3 * timestep:g}", *figures(walking(gait, timestep))]
        for name, gait in GAITS.items()
        for timestep in (0.001, 0.005)
    ]
    return table("A Minitaur", ("it", "step [ms]", "mean", "median", "99 %", "largest"), rows)


def chains() -> str:
    """Table of chains by number of bodies."""
    rows = []
    for count in CHAINS:
        found, converged = rolling_chain(count)
        rows.append([str(count), *figures(np.array(found)), "yes" if converged else "no"])
    head = ("bodies", "mean", "median", "99 %", "largest", "all solved")
    return table("Chains of spheres that roll, friction 0.3, 0.01 s", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    print(f"{machine()}\n\n{environments()}\n\n{gaits()}\n\n{chains()}")


if __name__ == "__main__":
    main()

"""The pinned rods of `runge_kutta.py` in MuJoCo: hinges as joint coordinates, the pin that closes a loop soft.

python examples/mujoco_rods.py        # needs `pip install mujoco`
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from runge_kutta import FOUR_BAR, GRAVITY, Rods


def mujoco_model(rods: Rods, step: float) -> str:
    """Return the rods as MuJoCo's XML; every body's origin is its near end, its axes at the start the world's."""
    bodies, loop = "", ""
    starts = np.vstack((rods.ends[:1], 2 * rods.halves[:-1]))
    for k in reversed(range(len(rods.halves))):
        (x, z), (right, up), inertia = starts[k], rods.halves[k], rods.inertia[k]
        inertial = f'<inertial pos="{right} 0 {up}" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>'
        hinge = '<joint type="hinge" axis="0 1 0"/>'
        bodies = f'<body name="rod{k}" pos="{x} 0 {z}">{hinge}{inertial}{bodies}</body>'
    if rods.closed:
        right, up = 2 * rods.halves[-1]
        loop = f'<equality><connect body1="rod{len(rods.halves) - 1}" anchor="{right} 0 {up}"/></equality>'
    option = f'<option timestep="{step}" integrator="RK4" gravity="0 0 -{GRAVITY}"><flag energy="enable"/></option>'
    return f"<mujoco>{option}<worldbody>{bodies}</worldbody>{loop}</mujoco>"


def run(rods: Rods, step: float, every: int = 1) -> Iterator[tuple[float, float]]:
    """Yield energy [J] and widest gap of the pins [m] at the start, at rest, and after each so many steps [s]."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_model(rods, step))
    data = mujoco.MjData(model)
    while True:
        mujoco.mj_forward(model, data)
        yield float(data.energy.sum()), float(np.abs(data.efc_pos).max(initial=0.0))
        for _ in range(every):
            mujoco.mj_step(model, data)


def main(seconds: float = 20.0) -> tuple[float, float]:
    """Print and return the energy the four-bar lost [J] and the widest gap [m]."""
    energies, gaps = zip(*islice(run(FOUR_BAR, 0.01), round(seconds / 0.01)), strict=True)
    print(f"{seconds:g} s: energy off by {energies[-1] - energies[0]:+.1e} J, loop open by {max(gaps):.1e} m at most")
    return energies[-1] - energies[0], max(gaps)


if __name__ == "__main__":
    main()

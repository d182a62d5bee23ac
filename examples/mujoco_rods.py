"""Pinned rods of `runge_kutta.py` in MuJoCo: hinge coordinates and a soft joint in the loop.

python examples/mujoco_rods.py        # needs `pip install mujoco`
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from runge_kutta import FOUR_BAR, GRAVITY, Rods


def mujoco_model(rods: Rods, step: float) -> str:
    """Return the rods as MuJoCo's XML; body frames are at near ends, aligned with the world."""
    bodies, loop = "", ""
    starts = np.vstack((rods.ends[:1], 2 * rods.halves[:-1]))
    for k in reversed(range(len(rods.halves))):
        x, z = starts[k]
        right, up = rods.halves[k]
        inertia = " ".join(3 * [str(rods.inertia[k])])
        inertial = f'<inertial pos="{right} 0 {up}" mass="1" diaginertia="{inertia}"/>'
        hinge = '<joint type="hinge" axis="0 1 0"/>'
        bodies = f'<body name="rod{k}" pos="{x} 0 {z}">{hinge}{inertial}{bodies}</body>'
    if rods.closed:
        right, up = 2 * rods.halves[-1]
        connect = f'<connect body1="rod{len(rods.halves) - 1}" anchor="{right} 0 {up}"/>'
        loop = f"<equality>{connect}</equality>"
    attributes = f'timestep="{step}" integrator="RK4" gravity="0 0 -{GRAVITY}"'
    option = f'<option {attributes}><flag energy="enable"/></option>'
    return f"<mujoco>{option}<worldbody>{bodies}</worldbody>{loop}</mujoco>"


def run(rods: Rods, step: float, every: int = 1) -> Iterator[tuple[float, float]]:
    """Yield energy [J] and largest gap of the joints [m] at rest and after every so many steps."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_model(rods, step))
    data = mujoco.MjData(model)
    while True:
        mujoco.mj_forward(model, data)
        yield float(data.energy.sum()), float(np.abs(data.efc_pos).max(initial=0.0))
        for _ in range(every):
            mujoco.mj_step(model, data)


def main(seconds: float = 20.0) -> tuple[float, float]:
    """Print and return the energy change of the four-bar [J] and its largest gap [m]."""
    energies, gaps = zip(*islice(run(FOUR_BAR, 0.01), round(seconds / 0.01)), strict=True)
    change = energies[-1] - energies[0]
    print(f"{seconds:g} s: energy change {change:+.1e} J, loop gap {max(gaps):.1e} m at most")
    return change, max(gaps)


if __name__ == "__main__":
    main()

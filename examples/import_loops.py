"""Robot with a loop from a URDF file: a third link connects an arm of two links to the world.

python examples/import_loops.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import vigym

ROD = """
<link name="{name}"><inertial><origin xyz="0 0 {half}"/><mass value="0.5"/>
  <inertia ixx="{side}" ixy="0" ixz="0" iyy="{side}" iyz="0" izz="1e-5"/></inertial></link>"""
HINGE = """
<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 1 0"/>
  <limit effort="{effort}" velocity="20"/></joint>"""
# The joint that closes the loop, with its frame in either link.
LOOP = """
<loop_joint name="pin" type="revolute"><axis xyz="0 1 0"/>
  <link1 link="coupler" xyz="0 0 0.5" rpy="0 0 0"/>
  <link2 link="rocker" xyz="0 0 0.4" rpy="0 -1.2 0"/></loop_joint>"""


def text() -> str:
    """Return the file: world - crank - coupler, world - rocker, loop of coupler and rocker."""
    rods = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}
    links = [
        ROD.format(name=name, half=size / 2, side=0.5 * size**2 / 12) for name, size in rods.items()
    ]
    names = ("name", "parent", "child", "xyz", "rpy", "effort")
    joints = [
        ("motor", "world", "crank", "0 0 0", "0 0 0", 2),
        ("elbow", "crank", "coupler", "0 0 0.2", "0 1.2 0", 0),
        ("pivot", "world", "rocker", "0.45 0 0", "0 0 0", 0),
    ]
    hinges = [HINGE.format(**dict(zip(names, joint, strict=True))) for joint in joints]
    return f'<robot name="arm">\n<link name="world"/>{"".join(links + hinges)}{LOOP}\n</robot>\n'


def main(seconds: float = 10.0) -> dict[str, float]:
    """Write and load the file, print the mechanism, drive the crank; return gap and energies."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "arm.urdf")
        file.write_text(text())
        mech = vigym.load_urdf(file)
    print(mech.summary())
    sim = vigym.Simulator(mech, timestep=0.005)
    sim.reset(
        positions={"motor": 0.2}
    )  # the others follow; the loop, 2 cm open in the file, closes
    gap = 0.0
    for step in range(round(seconds / 0.05)):
        status = sim.step(torques=[1.5 if step % 20 < 10 else -1.5], substeps=10)
        assert status.converged, status
        gap = max(gap, sim.constraint_residual())
    metrics = sim.metrics()
    balance = metrics["energy_balance"]
    print(f"after {seconds:g} s: loop gap {gap:.1e} m at most, energy balance {balance:.1e} J")
    return {"gap": gap, "energy_balance": balance, "work": metrics["work_actuator"]}


if __name__ == "__main__":
    main()

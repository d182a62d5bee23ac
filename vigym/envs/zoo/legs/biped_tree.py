"""The tree that commonly stands for a biped whose ankles are parallel mechanisms."""

from dataclasses import replace

import numpy as np

from vigym import assets
from vigym.control.kinematics.biped import BESIDE, LEVER, RATIOS, ROD, SIDES
from vigym.mechanism.mechanism import Mechanism
from vigym.spatial import Origin
from vigym.urdf.convert.load import to_mechanism
from vigym.urdf.read.links import read_robot
from vigym.urdf.read.records import Addition, Robot
from vigym.urdf.read.xml import parse_xml

RODS = ("outer", "inner")
AXES = ("ankle_pitch", "ankle_roll")  # in the order of the motors that they take over


def tree_biped() -> Mechanism:
    """Return the robot of `assets/biped` on the ground, with motors in its ankles and no loops.

    Cranks and half of each rod are part of the shank, half of it is part of the foot. The motors of
    pitch and roll have the gains, efforts and armatures of both cranks there, at the file's zero.
    """
    robot = read_robot(parse_xml(assets.path("biped"), "robot"))
    motors = {each.values["joint"]: each for each in robot.additions if each.tag == "motor"}
    for side, beside in zip(SIDES, BESIDE, strict=True):
        for rod, axis, ratios in zip(RODS, AXES, np.abs(RATIOS.T), strict=True):
            crank = f"{side}_{rod}_crank"
            motors[crank] = _drive(robot, motors[crank], f"{side}_{axis}", ratios)
        for rod, y in zip(RODS, beside, strict=True):
            robot.joints[f"{side}_{rod}_crank"] = replace(
                robot.joints[f"{side}_{rod}_crank"], type="fixed", effort=None, armature=0.0
            )
            _halve(robot, f"{side}_{rod}_rod", f"{side}_foot", np.array((-LEVER, y, ROD)))
    tree = replace(robot, loops=[], additions=list(motors.values()))
    return to_mechanism(tree, "floating", True, False, "error", "error")


def _drive(robot: Robot, motor: Addition, axis: str, ratios: np.ndarray) -> Addition:
    """Move the motors of an ankle's cranks, which are alike, to one axis of the ankle.

    Virtual work: the torque is that of the cranks times their rates over that of the axis. Gains
    and armatures have the squares of these ratios.

    Args:
        robot: its joint gets effort and armature.
        motor: of one of the cranks.
        axis: name of the joint.
        ratios: of the cranks (2,).
    """
    crank, square = robot.joints[motor.values["joint"]], float(ratios @ ratios)
    effort = float(ratios.sum()) * (crank.effort or 0.0)
    armature = square * crank.armature
    robot.joints[axis] = replace(robot.joints[axis], effort=effort, armature=armature)
    gains = {name: square * motor.values[name] for name in ("kp", "kd")}
    return replace(motor, values={"joint": axis, **gains})


def _halve(robot: Robot, rod: str, foot: str, place: np.ndarray) -> None:
    """Fix half of a rod to its crank, the other half to the foot, at a place in it (3,) [m]."""
    joint, below = robot.joints[rod], f"{rod}_below"
    half = replace(robot.links[rod], mass=0.5 * robot.links[rod].mass)
    half = replace(half, inertia=0.5 * half.inertia)
    robot.links.update({rod: half, below: replace(half, name=below, visuals=())})
    fixed = replace(joint, type="fixed")
    pose = Origin(place, np.eye(3), np.zeros(3))
    lower = replace(fixed, name=below, parent=foot, child=below, origin=pose)
    robot.joints.update({rod: fixed, below: lower})

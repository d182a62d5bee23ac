"""Walking of a humanoid, as in Gymnasium's Humanoid-v5."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from vigym.envs.arrays import rotate_to_body
from vigym.envs.standard.base import Range
from vigym.envs.standard.spatial import Index, SpatialRunner, center_of_mass
from vigym.envs.task import Array, Quantities
from vigym.simulation.simulator import Simulator
from vigym.spatial import conjugate, cross

CONTROL = 0.4  # action of Gymnasium where that of vigym is 1
SIDES = "right", "left"
FOOT_RADIUS = 0.075  # [m]
SHIN, FOOT = 2.755696167183642, 1.767145867644259  # masses [kg]
SHINS, FEET = [4, 7], [5, 8]  # among the observed bodies


@dataclass(frozen=True, kw_only=True)
class Humanoid(SpatialRunner):
    """Walking of a humanoid, as in Gymnasium.

    ## Description

    A trunk of three parts with two legs and two arms is to walk forwards, along x, without a fall.
    Masses, sizes, limits, springs, dampers, armatures and friction are those of Gymnasium's model.

    ## Notes

    What differs from Gymnasium's Humanoid-v5: actions are in [-1, 1], 2.5 times its own, so that
    torques are equal; contacts and limits are rigid, without its softness, and knees start at their
    limits, not beyond them; parts of the robot do not touch each other; velocities, inertias and
    forces are those at the end of a step, not one integrator step earlier; `info` has no lengths of
    tendons; an episode also ends if the solver fails.

    `xml_file` and `default_camera_config` are not options here.

    `info` has `x_position`, `y_position` and `distance_from_origin` of the trunk [m], and
    `x_velocity`, `y_velocity` of the centre of mass, the means over the control step [m/s].

    ## Action Space

    Hinges in the order of Gymnasium, which differs from that of observations in the first two.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-2 | torques of the abdomen, of at most 40 N m | -1 | 1 | abdomen_y, _z, _x | torque (N m) |
    | 3-6 | of hip and knee, 40, 40, 120, 80 N m | -1 | 1 | right_hip_x to knee | torque (N m) |
    | 7-10 | of hip and knee, 40, 40, 120, 80 N m | -1 | 1 | left_hip_x to knee | torque (N m) |
    | 11-13 | of shoulder and elbow, 10 N m | -1 | 1 | right_shoulder1 to elbow | torque (N m) |
    | 14-16 | of shoulder and elbow, 10 N m | -1 | 1 | left_shoulder1 to left_elbow | torque (N m) |

    ## Observation Space

    Bodies are in the order torso, lwaist, pelvis, right thigh, shin and foot, left ones, right
    upper and lower arm, left ones; hinges in the order abdomen z, y, x, right hip x, z, y and knee,
    left ones, right shoulder 1, 2 and elbow, left ones. What is about the robot's centre of mass is
    in world axes. With `exclude_current_positions_from_observation=False` x and y of the trunk are
    in front; `include_cinert_in_observation`, `include_cvel_in_observation`,
    `include_qfrc_actuator_in_observation` and `include_cfrc_ext_in_observation` say which of the
    last four rows are there.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | height of the trunk | -inf | inf | floating | distance (m) |
    | 1-4 | orientation of the trunk, quaternion (w, x, y, z) | -inf | inf | floating | ratio |
    | 5-21 | angles | -inf | inf | hinges | angle (rad) |
    | 22-24 | velocity of the trunk, world axes | -inf | inf | floating | rate (m/s) |
    | 25-27 | angular velocity of the trunk, own axes | -inf | inf | floating | rate (rad/s) |
    | 28-44 | rates | -inf | inf | hinges | rate (rad/s) |
    | 45-174 | inertia of 13 bodies about the centre: xx, yy, zz, xy, xz, yz, mass times arm, \
mass | -inf | inf | none | inertia (kg m^2, kg m, kg) |
    | 175-252 | angular velocity of 13 bodies, and velocity of their points at the centre \
| -inf | inf | none | rate (rad/s, m/s) |
    | 253-269 | torques of the motors | -inf | inf | hinges | torque (N m) |
    | 270-347 | torque about the centre and force of the ground on 13 bodies | -inf | inf | none \
| wrench (N m, N) |

    ## Rewards

    reward = reward_forward + reward_ctrl + reward_contact + reward_survive, all in `info`:

    - reward_forward: `forward_reward_weight` times the mean velocity of the centre of mass along x
      [m/s];
    - reward_ctrl: minus `ctrl_cost_weight` times the sum of the squared actions of Gymnasium, 0.4
      times those of vigym;
    - reward_contact: minus `contact_cost_weight` times the sum of the squared torques and forces of
      the ground, which is clipped to `contact_cost_range`;
    - reward_survive: `healthy_reward` for every step after which the robot is up.

    ## Starting State

    Standing, 1.4 m high; positions [m, rad], components of the quaternion, which is then scaled,
    and velocities are uniform within +- `reset_noise_scale` of it, angles within the limits of
    their joints. A robot that would start in the ground is put on it.

    ## Episode End

    - Termination: the height of the trunk is out of `healthy_z_range`, if
      `terminate_when_unhealthy`, or the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 15 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `forward_reward_weight` | float | 1.25 | weight of the velocity (s/m) |
    | `ctrl_cost_weight` | float | 0.1 | weight of the squared actions |
    | `contact_cost_weight` | float | 5e-07 | weight of the squared torques and forces |
    | `contact_cost_range` | tuple | (-inf, 10.0) | to which that cost is clipped |
    | `healthy_reward` | float | 5.0 | weight of being up |
    | `terminate_when_unhealthy` | bool | True | whether a fall ends the episode |
    | `healthy_z_range` | tuple | (1.0, 2.0) | heights of the trunk that is up (m) |
    | `exclude_current_positions_from_observation` | bool | True | whether x, y are not observed |
    | `include_cinert_in_observation` | bool | True | whether inertias are observed |
    | `include_cvel_in_observation` | bool | True | whether velocities of bodies are observed |
    | `include_qfrc_actuator_in_observation` | bool | True | whether torques are observed |
    | `include_cfrc_ext_in_observation` | bool | True | whether ground forces are observed |
    """

    robot: ClassVar[str] = "humanoid"
    height: ClassVar[float] = 1.4
    hinges: ClassVar[tuple[str, ...]] = (
        *("abdomen_z", "abdomen_y", "abdomen_x"),
        *(f"{side}_{each}" for side in SIDES for each in ("hip_x", "hip_z", "hip_y", "knee")),
        *(f"{side}_{each}" for side in SIDES for each in ("shoulder1", "shoulder2", "elbow")),
    )
    shapes: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "torso": ("torso1", "head", "uwaist"),
        "lwaist": ("lwaist",),
        "pelvis": ("butt",),
        "right_thigh": ("right_thigh1",),
        "right_shin": ("right_shin1",),
        "right_foot": ("right_foot",),
        "left_thigh": ("left_thigh1",),
        "left_shin": ("left_shin1",),
        "left_foot": ("left_foot",),
        "right_upper_arm": ("right_uarm1",),
        "right_lower_arm": ("right_larm", "right_hand"),
        "left_upper_arm": ("left_uarm1",),
        "left_lower_arm": ("left_larm", "left_hand"),
    }

    timestep: float = 0.003
    reset_noise_scale: float = 0.01
    forward_reward_weight: float = 1.25
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 5e-7
    contact_cost_range: Range = (float("-inf"), 10.0)
    healthy_reward: float = 5.0
    healthy_z_range: Range = (1.0, 2.0)
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True

    @cached_property
    def _rows(self) -> tuple[Index, Array]:
        """Rows of the observed bodies; places of the feet in the axes of the shins (2, 3) [m]."""
        mechanism = self.built
        bodies = list(mechanism.bodies)
        owners = [mechanism.collisions[shapes[0]].body for shapes in self.shapes.values()]
        feet = [mechanism.collisions[f"{side}_foot"].position for side in SIDES]
        return np.array([bodies.index(owner) for owner in owners]), np.array(feet)

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the centre of mass along x and y [m], whose mean rates are rewarded."""
        center = center_of_mass(sim)
        return {"x_velocity": center[..., 0], "y_velocity": center[..., 1]}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, the place of the trunk, and all parts of the observation."""
        motors = self._columns[1][6:] - 6
        return {
            **super().quantities(sim),
            **self._about_center(sim),
            "_qfrc_actuator": sim.actuator_torques[..., motors],
        }

    def _about_center(self, sim: Simulator) -> Quantities:
        """Return inertias (..., 130) and velocities (..., 78) of bodies at the centre of mass."""
        rows, feet = self._rows
        states = sim.body_states[..., rows, :]
        to_world = conjugate(states[..., 3:7])
        arms = states[..., :3] - center_of_mass(sim)[..., None, :]
        spins = rotate_to_body(to_world, states[..., 10:13])
        velocities = np.concatenate((spins, states[..., 7:10] - cross(spins, arms)), axis=-1)
        masses, inertias = sim.body_inertias
        masses = masses[..., rows]
        turned = rotate_to_body(to_world[..., None, :], inertias[..., rows, :, :])
        turned = rotate_to_body(to_world[..., None, :], np.swapaxes(turned, -1, -2))
        # shin and foot are one body
        masses[..., FEET] *= FOOT / (SHIN + FOOT)
        feet = np.broadcast_to(feet, arms[..., FEET, :].shape)
        arms[..., FEET, :] += rotate_to_body(to_world[..., FEET, :], feet)
        ball = 0.4 * FOOT_RADIUS * FOOT_RADIUS * masses[..., FEET]
        turned[..., FEET, :, :] = ball[..., None, None] * np.eye(3)
        found = about_center(masses, turned, arms)
        found[..., SHINS, :] -= found[..., FEET, :]
        shape = arms.shape[:-2]
        return {"_cinert": found.reshape(*shape, -1), "_cvel": velocities.reshape(*shape, -1)}

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed, control, contact and being up."""
        terms = super().rewards(quantities, action)
        terms["ctrl"] = CONTROL * CONTROL * terms["ctrl"]
        weight = self.contact_cost_weight
        if weight > 0.0:
            low, high = self.contact_cost_range
            terms["contact"] = -np.clip(-weight * terms["contact"], low, high) / weight
        return terms


def about_center(masses: Array, inertias: Array, arms: Array) -> Array:
    """Return inertias of bodies about a centre: xx, yy, zz, xy, xz, yz, mass times arm, mass.

    Args:
        masses: (..., n) [kg].
        inertias: about their own centres (..., n, 3, 3) [kg m^2].
        arms: from the centre to theirs (..., n, 3) [m].

    Returns:
        (..., n, 10) [kg m^2, kg m, kg].
    """
    mass = masses[..., None]
    x, y, z = (arms[..., k, None] for k in range(3))
    squares = np.concatenate((y * y + z * z, x * x + z * z, x * x + y * y), axis=-1)
    products = -np.concatenate((x * y, x * z, y * z), axis=-1)
    own = inertias[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    moments = own + mass * np.concatenate((squares, products), axis=-1)
    return np.concatenate((moments, mass * arms, mass), axis=-1)

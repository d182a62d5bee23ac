"""What a mechanism consists of: the reading half of `Mechanism`."""

from collections.abc import Mapping
from types import MappingProxyType

from numpy.typing import ArrayLike

from vigym.mechanism.elements.bodies import WORLD, Body, Frame, Ground, Report
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.contacts import contact_names, pair_touches
from vigym.mechanism.elements.couplings import Coupling, Skate, Wheel
from vigym.mechanism.elements.joints import Joint, make_joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.elements.shapes import Shape
from vigym.mechanism.elements.springs import Spring
from vigym.mechanism.topology.analysis import Structure, analyse

IMPLICIT = ":floating"  # suffix of the joints that carry bodies no joint was given for


class Listing:
    """Names and records of a mechanism's elements, in their order."""

    ground: Ground | None = None
    _default_ground = True  # whether the first thing that touches gets a ground if there is none
    _structure: tuple[tuple[int, ...], Structure] | None = None  # with the numbers of elements that it is of

    def __init__(self) -> None:
        self.report: list[Report] = []
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._closing: set[str] = set()
        self._frames: dict[str, Frame] = {}
        self._springs: dict[str, Spring] = {}
        self._motors: dict[str, Motor] = {}
        self._couplings: dict[str, Coupling] = {}
        self._collisions: dict[str, Collision] = {}
        self._pairs: list[tuple[str, str]] = []
        self._skates: dict[str, Skate] = {}
        self._wheels: dict[str, Wheel] = {}
        self._world_shapes: list[Shape] = []

    @property
    def bodies(self) -> Mapping[str, Body]:
        """Bodies by name, in the order they were added."""
        return MappingProxyType(self._bodies)

    @property
    def joints(self) -> Mapping[str, Joint]:
        """Joints by name, in the order they were added; without the implicit floating ones."""
        return MappingProxyType(self._joints)

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Massless frames by name, in the order they were added."""
        return MappingProxyType(self._frames)

    @property
    def world_shapes(self) -> tuple[Shape, ...]:
        """Shapes that stand still, poses in the world."""
        return tuple(self._world_shapes)

    @property
    def springs(self) -> Mapping[str, Spring]:
        """Springs between points by name, in the order they were added."""
        return MappingProxyType(self._springs)

    @property
    def motors(self) -> Mapping[str, Motor]:
        """Motors by the name of their joint, in the order of the targets: that of `tree_joints`."""
        return {joint.name: self._motors[joint.name] for joint in self._carrying if joint.name in self._motors}

    @property
    def motor_names(self) -> list[str]:
        """Names of the joints with a motor, in the order of the targets."""
        return list(self.motors)

    @property
    def couplings(self) -> Mapping[str, Coupling]:
        """Couplings by name, in the order they were added."""
        return MappingProxyType(self._couplings)

    @property
    def collisions(self) -> Mapping[str, Collision]:
        """Contacts and collision shapes by name, in the order they were added."""
        return MappingProxyType(self._collisions)

    @property
    def contact_names(self) -> list[str]:
        """Names of all contact points: first those with the ground, then those of paired bodies.

        With the ground (without one there are none) the collision's name, for several points with `:0`, `:1`, ...;
        of two shapes both names with a slash between.
        """
        return [*self.ground_contact_names, *(touch.name for touch in pair_touches(self))]

    @property
    def ground_contact_names(self) -> list[str]:
        """Names of the contact points with the ground."""
        touching = self._collisions.values() if self.ground is not None else ()
        return [name for collision in touching for name in contact_names(collision)]

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of bodies whose collision shapes touch each other, in the order they were added."""
        return tuple(self._pairs)

    @property
    def skates(self) -> Mapping[str, Skate]:
        """Skates by name, in the order they were added."""
        return MappingProxyType(self._skates)

    @property
    def wheels(self) -> Mapping[str, Wheel]:
        """Wheels by name, in the order they were added."""
        return MappingProxyType(self._wheels)

    @property
    def _carrying(self) -> list[Joint]:
        return [joint for joint in self._joints.values() if joint.name not in self._closing]

    @property
    def tree_joints(self) -> list[Joint]:
        """Joints that carry a body: implicit floating ones first, then as they were added."""
        carrying = self._carrying
        carried = {joint.child for joint in carrying}
        free = [body for body in self._bodies.values() if body.name not in carried]
        implicit = [floating_joint(body.name + IMPLICIT, WORLD, body.name, body.position) for body in free]
        return [*implicit, *carrying]

    @property
    def closing_joints(self) -> list[Joint]:
        """Joints that close loops, in the order they were added."""
        return [joint for joint in self._joints.values() if joint.name in self._closing]

    @property
    def ordered_joints(self) -> list[Joint]:
        """All joints in the order of their coordinates: those of the tree, then those that close loops."""
        return [*self.tree_joints, *self.closing_joints]

    @property
    def position_names(self) -> list[str]:
        """Names of the position coordinates: the joint's for one freedom, `joint.coordinate` for several."""
        return [name for joint in self.ordered_joints for name in joint.coordinates(joint.prototype.positions)]

    @property
    def velocity_names(self) -> list[str]:
        """Names of the velocity coordinates, one per freedom of a joint."""
        return [name for joint in self.ordered_joints for name in joint.coordinates(joint.prototype.velocities)]

    @property
    def actuator_names(self) -> list[str]:
        """Velocity coordinates of the tree's joints with effort > 0."""
        driven = [joint for joint in self.tree_joints if joint.actuated]
        return [name for joint in driven for name in joint.coordinates(joint.prototype.velocities)]

    @property
    def degrees_of_freedom(self) -> int:
        """Number of independent velocities, at a generic assembled pose; skates and wheels do not count."""
        return self.structure.degrees_of_freedom

    @property
    def redundant_constraints(self) -> int:
        """Number of constraint rows that depend on others, at a generic assembled pose; a tree has none."""
        return self.structure.redundant_constraints

    @property
    def structure(self) -> Structure:
        """How the loops close, and what their joints constrain; found when first asked for.

        Raises:
            AssemblyError: loops that cannot be closed; names the joint that is farthest apart and its gap.
        """
        size = len(self._bodies), len(self._joints), len(self._couplings)  # nothing is ever taken away or changed
        if self._structure is None or self._structure[0] != size:
            self._structure = size, analyse(self)
        return self._structure[1]


def floating_joint(name: str, parent: str, child: str, position: ArrayLike) -> Joint:
    """Return a floating joint without spring, damper or actuator."""
    return make_joint(
        name, "floating", parent, child, position, axis=(0.0, 0.0, 1.0), axis2=None, limits=None, damping=0.0,
        stiffness=0.0, rest=0.0, effort=None, armature=0.0, friction=0.0, velocity=None, child_position=None,
        child_rotation=None,
    )  # fmt: skip

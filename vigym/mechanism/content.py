"""All elements of one mechanism, with the orders and names of joints and contacts."""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike

from vigym.mechanism.collection import Collection, Element, Forest
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD, Body, Frame, Ground, Note, make_ground
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.contacts import (
    PairContact,
    contact_names,
    pair_contacts,
    wheel_contact_names,
)
from vigym.mechanism.elements.couplings import (
    Coupling,
    Skate,
    VelocityConstraint,
    Wheel,
    check_coupled_coordinates,
    check_leader,
    check_moved,
)
from vigym.mechanism.elements.joints import FLOATING_SUFFIX, Joint, floating_joint
from vigym.mechanism.elements.motors import Motion, Motor
from vigym.mechanism.elements.shapes import Shape
from vigym.mechanism.elements.springs import Potential, Spring
from vigym.mechanism.tracks.collection import Tracks
from vigym.mechanism.tracks.joints import Track
from vigym.mechanism.tracks.slides import Coordinate


class Index:
    """Lookup tables that make checks of new elements constant-time.

    Attributes:
        tree: forest of bodies; the parent of a body is that of the joint that carries it.
        coordinates: coordinate name -> joint, without implicit ones.
        closing: names of the joints that close loops.
        obstacles: names of the bodies that a fixed joint holds in the world.
        followers: coordinate name -> coupling by which it follows another one.
        leaders: forest of coordinates; the parent of one is the coordinate that it follows.
        contacts: names of all contacts, those with the ground even where there is none.
        shapes: body -> its collisions with a shape.
        partners: body -> bodies that are paired with it.
    """

    def __init__(self) -> None:
        self.tree, self.leaders = Forest(), Forest()
        self.coordinates: dict[str, Joint] = {}
        self.closing: set[str] = set()
        self.obstacles: set[str] = set()
        self.followers: dict[str, Coupling] = {}
        self.contacts: set[str] = set()
        self.shapes: dict[str, list[Collision]] = {}
        self.partners: dict[str, list[str]] = {}
        self._counts = dict.fromkeys(("joints", "couplings", "collisions", "wheels", "pairs"), 0)

    def update(self, elements: "Elements", closing: Sequence[str]) -> None:
        """Add the elements that are not in the index yet; elements are only ever added."""
        self.closing.update(closing[len(self.closing) :])
        for joint in self._newest("joints", elements.joints):
            self.coordinates |= dict.fromkeys(joint.coordinate_names, joint)
            if joint.name not in self.closing:
                self.tree.add(joint.child, joint.parent)
                if joint.type == "fixed" and joint.parent == WORLD:
                    self.obstacles.add(joint.child)
        for coupling in self._newest("couplings", elements.couplings):
            self.followers[coupling.joint] = coupling
            self.leaders.add(coupling.joint, coupling.other)
        for collision in self._newest("collisions", elements.collisions):
            self.contacts.update(contact_names(collision))
            if collision.shape is not None:
                self.shapes.setdefault(collision.body, []).append(collision)
        for wheel in self._newest("wheels", elements.wheels):
            self.contacts.update(wheel_contact_names(wheel))
        for a, b in elements.pairs[self._counts["pairs"] :]:
            self.partners.setdefault(a, []).append(b)
            self.partners.setdefault(b, []).append(a)
        self._counts["pairs"] = len(elements.pairs)

    def check_coupling(self, coupling: Coupling, tree: Callable[[], Sequence[Joint]]) -> None:
        """Raise MechanismError for a coupling that cannot be added.

        Args:
            coupling: of two coordinates.
            tree: returns the joints of the tree.
        """
        check_coupled_coordinates(coupling, self.coordinates, self.closing, tree)
        check_leader(coupling, self.followers, self.leaders.root)

    def check_motion(
        self, name: str, motors: Iterable[str], tree: Callable[[], Sequence[Joint]]
    ) -> None:
        """Raise MechanismError for a coordinate whose motion cannot be prescribed.

        Args:
            name: the coordinate.
            motors: names of the joints with motors.
            tree: returns the joints of the tree.
        """
        check_moved(name, self.coordinates, self.closing, {*motors, *self.followers}, tree)

    def shapes_of_partners(self, body: str) -> list[Collision]:
        """Return the collision shapes of the bodies that are paired with one."""
        return [shape for partner in self.partners.get(body, ()) for shape in self.shapes[partner]]

    def _newest(self, kind: str, elements: Collection[Element]) -> list[Element]:
        """Return the elements of a kind that were added since the last call."""
        start, self._counts[kind] = self._counts[kind], len(elements)
        return elements.newest(start)


class Elements(checks.ReadOnly):
    """Elements of a mechanism, with the orders and names of joints, coordinates and contacts.

    Arguments and attributes as in `Mechanism`, which adds elements and analyses them.
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        ground: bool | Ground | None = None,
        name: str = "mechanism",
    ) -> None:
        self.gravity = gravity
        self.ground = ground
        self.name = checks.require_new_name(name, "mechanism")
        self.notes: list[Note] = []
        self.bodies: Collection[Body] = Collection()
        self.joints: Collection[Joint] = Collection()
        self.frames: Collection[Frame] = Collection()
        self.springs: Collection[Spring] = Collection()
        self.couplings: Collection[Coupling] = Collection()
        self.motions: Collection[Motion] = Collection()
        self.velocity_constraints: Collection[VelocityConstraint] = Collection()
        self.potentials: Collection[Potential] = Collection()
        self.tracks = Tracks(self.bodies, self.joints)
        self.collisions: Collection[Collision] = Collection()
        self.skates: Collection[Skate] = Collection()
        self.wheels: Collection[Wheel] = Collection()
        self.pairs: tuple[tuple[str, str], ...] = ()
        self.world_shapes: tuple[Shape, ...] = ()
        self.starts: dict[str, dict[str, ArrayLike]] = {}
        self._motors: Collection[Motor] = Collection()
        self._closing: tuple[str, ...] = ()  # names of the joints that close loops
        self._known = Index()

    def __repr__(self) -> str:
        bodies, joints = len(self.bodies), len(self.joints)
        return f"<Mechanism {self.name!r}: {bodies} bodies, {joints} joints>"

    @property
    def gravity(self) -> checks.Array:
        """Acceleration of free fall in the world (3,) [m/s^2]."""
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._gravity = checks.require_vector(gravity, "gravity [m/s^2]", largest=checks.LARGEST)

    @property
    def ground(self) -> Ground | None:
        """Ground that contacts touch, if any; takes values like `Mechanism(ground=)`."""
        return self._ground

    @ground.setter
    def ground(self, ground: bool | Ground | None) -> None:
        self._ground = make_ground(ground)
        self._adds_ground = ground is None  # with the next contact, collision or wheel

    def with_replaced_elements(self, **elements: Mapping[str, Any]) -> Self:
        """Return a copy with other elements of the same names.

        Args:
            elements: kind ("bodies", "motors", ...) -> name -> element.
        """
        other = copy.copy(self)
        other.notes = list(self.notes)
        other._known = Index()
        for kind, old in vars(self).items():
            if isinstance(old, Collection):
                new = elements.get(kind.removeprefix("_"), old)
                setattr(other, kind, Collection((name, new[name]) for name in old))
        other.tracks = Tracks(other.bodies, other.joints, other.tracks.items())
        return other

    def without_motors(self) -> Self:
        """Return a copy without motors."""
        other = self.with_replaced_elements()
        other._motors = Collection()
        return other

    def on_terrain_map(self, number: int) -> Self:
        """Return a copy with one map of its ground's terrain; itself where there are no others."""
        if self.ground is None or self.ground.terrain is None or self.ground.terrain.maps == 1:
            return self
        terrain = self.ground.terrain
        other = self.with_replaced_elements()
        one = replace(terrain, heights=terrain.heights[number])
        other.ground = replace(self.ground, terrain=one)
        return other

    def _add_default_ground(self) -> None:
        if self.ground is None and self._adds_ground:
            self.ground = Ground()

    @property
    def _index(self) -> Index:
        """Names and neighbours of all elements."""
        self._known.update(self, self._closing)
        return self._known

    @property
    def motors(self) -> Mapping[str, Motor]:
        """Motors by the name of their joint, in the order of the targets.

        That of `ordered_joints`, then of curve joints and joints of your own.
        """
        joints = [joint.name for joint in (*self._explicit_tree_joints, *self.closing_joints)]
        return {
            name: self._motors[name]
            for name in (*joints, *self.tracks.coordinate_names)
            if name in self._motors
        }

    @property
    def motor_names(self) -> list[str]:
        """Names of the joints with a motor, in the order of the targets."""
        return list(self.motors)

    @property
    def slides(self) -> list[tuple[Track, Coordinate]]:
        """Coordinates of curve and surface joints along which forces act, with their joints."""
        return [
            (track, coordinate)
            for track in self.tracks.values()
            for coordinate in track.coordinates(self._motors)
        ]

    @property
    def pair_contacts(self) -> list[PairContact]:
        """Contacts of paired bodies, pair by pair in the order they were added."""
        return pair_contacts(self.collisions.values(), self.pairs)

    @property
    def contact_names(self) -> list[str]:
        """Names of all contacts: first those with the ground, then those of paired bodies.

        With the ground (without one there are none) the collision's name, for several contacts with
        `:0`, `:1`, ...; then those of wheels, `:0` where a wheel comes lowest; of two shapes both
        names with a slash between.
        """
        return [*self.ground_contact_names, *(contact.name for contact in self.pair_contacts)]

    @property
    def ground_contact_names(self) -> list[str]:
        """Names of the contacts with the ground: of collisions, then of wheels."""
        return [name for _, names in self._ground_contacts for name in names]

    @property
    def ground_contact_bodies(self) -> list[str]:
        """Names of the bodies that the contacts with the ground belong to, one for each."""
        return [body for body, names in self._ground_contacts for _ in names]

    @property
    def _ground_contacts(self) -> list[tuple[str, list[str]]]:
        """Body and names of the contacts of each collision and wheel with the ground."""
        planes = self.planes_of_ground
        found = [(each.body, contact_names(each, planes)) for each in self.ground_collisions]
        found += [(wheel.body, wheel_contact_names(wheel)) for wheel in self.wheels.values()]
        return found if self.ground is not None else []

    @property
    def ground_collisions(self) -> list[Collision]:
        """Collisions that touch the ground: none without one, nor those of obstacles."""
        fixed = self.obstacles
        found = [each for each in self.collisions.values() if each.body not in fixed]
        return found if self.ground is not None else []

    @property
    def obstacles(self) -> set[str]:
        """Names of the bodies that a fixed joint holds in the world; they need no mass."""
        return self._index.obstacles

    @property
    def planes_of_ground(self) -> int:
        """Contacts that each ball or rim has with the ground: three on terrain, one on a plane."""
        return 3 if self.ground is not None and self.ground.terrain is not None else 1

    @property
    def has_nonsmooth_forces(self) -> bool:
        """Whether anything touches, or sets forces on joints within bounds."""
        touching = self.contact_names or self.skates or self.wheels or self._motors
        joints = self.joints.values()
        bounded = any(slide.has_limits or slide.forces.friction > 0 for _, slide in self.slides)
        return (
            bool(touching) or bounded or any(j.limits is not None or j.friction > 0 for j in joints)
        )

    @property
    def needs_mobility(self) -> bool:
        """Whether forces of the mechanism ask for the masses that they move."""
        slides = any(slide.forces.stiffness > 0.0 for _, slide in self.slides)
        sprung = slides or any(joint.is_sprung for joint in self.joints.values())
        return self.has_nonsmooth_forces or sprung or bool(self.springs)

    @property
    def _explicit_tree_joints(self) -> list[Joint]:
        """Joints that carry a body, in the order they were added, without implicit ones."""
        closing = set(self._closing)
        return [joint for joint in self.joints.values() if joint.name not in closing]

    @property
    def tree_joints(self) -> list[Joint]:
        """Joints that carry a body: implicit floating ones first, then as they were added."""
        added = self._explicit_tree_joints
        children = {joint.child for joint in added}
        free = [body for body in self.bodies.values() if body.name not in children]
        implicit = [
            floating_joint(body.name + FLOATING_SUFFIX, WORLD, body.name, body.position)
            for body in free
        ]
        return [*implicit, *added]

    @property
    def closing_joints(self) -> list[Joint]:
        """Joints that close loops, in the order they were added."""
        return [self.joints[name] for name in self._closing]

    @property
    def ordered_joints(self) -> list[Joint]:
        """Joints in the order of their coordinates: those of the tree, then loop-closing ones."""
        return [*self.tree_joints, *self.closing_joints]

    @property
    def position_names(self) -> list[str]:
        """Names of the position coordinates: of one the joint's, of several `joint.coordinate`."""
        return [name for joint in self.ordered_joints for name in joint.position_names]

    @property
    def velocity_names(self) -> list[str]:
        """Names of the velocity coordinates, one per degree of freedom of a joint."""
        return [name for joint in self.ordered_joints for name in joint.velocity_names]

    @property
    def actuated_joints(self) -> list[Joint]:
        """Joints with effort > 0, those of the tree first."""
        return [joint for joint in self.ordered_joints if joint.actuated]

    @property
    def actuator_names(self) -> list[str]:
        """Velocity coordinates of the joints with effort > 0, those of the tree first."""
        return [name for joint in self.actuated_joints for name in joint.velocity_names]

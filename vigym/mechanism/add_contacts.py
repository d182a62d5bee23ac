"""The builder's half for what touches and rolls."""

from itertools import product

from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import Ground, Report
from vigym.mechanism.elements.collection import Listing
from vigym.mechanism.elements.collisions import PAIRED, Collision, make_collision, make_contact
from vigym.mechanism.elements.contacts import contact_names, meet
from vigym.mechanism.elements.couplings import Skate, Wheel, make_skate, make_wheel
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Shape


class AddContacts(Listing):
    """Adds contacts, collision shapes, pairs of them, skates and wheels."""

    def add_contact(
        self,
        name: str,
        body: str,
        position: ArrayLike,
        radius: float = 0.0,
        friction: ArrayLike = 0.8,
        restitution: float = 0.0,
        torsion: float = 0.0,
        direction: ArrayLike = (1.0, 0.0, 0.0),
    ) -> Collision:
        """Let one point or ball of a body touch the ground, and return its record.

        A mechanism without a ground gets the plane z = 0. One made with `ground=False` keeps what touches for a ground
        that is set later.

        Args:
            name: unique among contacts and collisions.
            body: body name.
            position: point or centre of the ball in the body frame (3,) [m].
            radius: of the ball [m], >= 0.
            friction: a number, (along, across) or (along, across, backward), >= 0. Along is the projection of
                `direction` on the ground; `along` resists slip forward and `backward` slip backward.
            restitution: part of the approaching speed that is given back (Newton's), in [0, 1]. What approaches by
                less than two steps of free fall stays down; heights are met to order one in the step.
            torsion: largest moment about the normal as a part of the normal force [m], >= 0.
            direction: in the body frame (3,), scaled to length one.

        Raises:
            MechanismError: an unknown body, a massless frame, a name that is taken, a value out of range.
        """
        self._check_touching(name, body, "contact")
        collision = make_contact(
            name, body, position, radius, friction=friction, restitution=restitution, torsion=torsion,
            direction=direction,
        )  # fmt: skip
        self._check_points(collision)
        self._lay_ground()
        self._collisions[name] = collision
        return collision

    def add_collision(
        self,
        name: str,
        body: str,
        shape: Shape,
        friction: ArrayLike = 0.8,
        restitution: float = 0.0,
        torsion: float = 0.0,
        direction: ArrayLike = (1.0, 0.0, 0.0),
    ) -> Collision:
        """Let a shape of a body touch the ground, and other bodies that are paired with it; return its record.

        A mechanism without a ground gets the plane z = 0. One made with `ground=False` keeps what touches for a ground
        that is set later.

        Args:
            name: unique among contacts and collisions.
            body: body name.
            shape: Box, Sphere, Capsule, Cylinder or Mesh (its convex hull, of at most 128 corners: the report tells
                where more were cut; a flat mesh, or one of a line or point, touches by its corners as exactly), pose in
                the body frame; it is not drawn.
            friction: as in `add_contact`; between two bodies the geometric mean of both.
            restitution: as in `add_contact`.
            torsion: as in `add_contact`.
            direction: as in `add_contact`.

        Raises:
            MechanismError: an unknown body, a massless frame, a name that is taken, a value out of range, a mesh that
                cannot be read.
        """
        self._check_touching(name, body, "collision")
        collision = make_collision(
            name, body, shape, friction=friction, restitution=restitution, torsion=torsion, direction=direction
        )
        self._check_points(collision)
        if any(body in pair for pair in self._pairs):
            self._check_partners(collision)
        self._lay_ground()
        if collision.cut:
            kept = f"{len(collision.corners)} corners of its convex hull are kept"
            message = f"{kept}; the mesh reaches {collision.cut:.3g} m beyond them"
            self.report.append(Report("changed", f"collision {name!r}", message))
        self._collisions[name] = collision
        return collision

    def add_pair(self, a: str, b: str) -> None:
        """Let the collision shapes of two bodies touch each other: spheres and capsules each other and boxes.

        A sphere and anything have one contact; a capsule and a capsule or box three: where they are nearest, and at the
        ends of the part of the capsule that is over the other. Between bodies friction has no direction and there is no
        torsion; friction and restitution are the geometric means of both.

        Args:
            a: body name.
            b: another one.

        Raises:
            MechanismError: an unknown body, one body twice, a pair that is there, a body without shapes or with others,
                a box on both.
        """
        element = f"pair {a!r}, {b!r}"
        for body in (a, b):
            self._check_moving(body, element)
        if a == b:
            raise MechanismError(f"{element}: found one body twice, expected two bodies")
        if (a, b) in self._pairs or (b, a) in self._pairs:
            raise MechanismError(f"{element}: found a second pair of these bodies, expected one")
        for body in (a, b):
            shapes = [item for item in self._collisions.values() if item.body == body and item.shape is not None]
            if not shapes:
                raise MechanismError(f"{element}: found no collision shape on {body!r}, expected one")
            for collision in shapes:
                _check_paired(collision)
        self._check_boxes(a, b, element)
        self._pairs.append((a, b))

    def _check_partners(self, collision: Collision) -> None:
        """Raise MechanismError for a shape that cannot touch what its body is paired with."""
        _check_paired(collision)
        partners = {b if a == collision.body else a for a, b in self._pairs if collision.body in (a, b)}
        for other in self._collisions.values():
            if other.body in partners and not meet(collision, other):
                raise MechanismError(
                    f"collision {collision.name!r}: found a box, and its body paired with one that has a box, "
                    f"{other.name!r}, expected a sphere or capsule on one side"
                )

    def _check_boxes(self, a: str, b: str, element: str) -> None:
        for first, second in product(self._collisions.values(), self._collisions.values()):
            if (first.body, second.body) == (a, b) and not meet(first, second):
                raise MechanismError(
                    f"{element}: found two boxes, {first.name!r} and {second.name!r}, which do not touch each other, "
                    "expected a sphere or capsule on one side"
                )

    def add_skate(self, name: str, body: str, position: ArrayLike, direction: ArrayLike) -> Skate:
        """Keep a point of a body from moving along a direction fixed in it (non-holonomic), and return the record.

        Args:
            name: unique among skates and wheels.
            body: body name.
            position: in the body frame (3,) [m].
            direction: in the body frame (3,), scaled to length one.

        Raises:
            MechanismError: an unknown body, a massless frame, a name that is taken, a value that is not finite.
        """
        checks.fresh_name(name, "skate", [*self._skates, *self._wheels])
        self._check_moving(body, f"skate {name!r}")
        skate = make_skate(name, body, position, direction)
        self._skates[name] = skate
        return skate

    def add_wheel(self, name: str, body: str, position: ArrayLike, axis: ArrayLike, radius: float) -> Wheel:
        """Let a wheel roll on the ground without slip (non-holonomic, no normal force), and return its record.

        A mechanism without a ground gets the plane z = 0, unless it was made with `ground=False`.

        Args:
            name: unique among skates and wheels.
            body: body name of the wheel, which turns.
            position: centre in the body frame (3,) [m].
            axis: in the body frame (3,), scaled to length one.
            radius: [m], > 0.

        Raises:
            MechanismError: an unknown body, a massless frame, a name that is taken, a value out of range, no ground.
        """
        checks.fresh_name(name, "wheel", [*self._skates, *self._wheels])
        self._check_moving(body, f"wheel {name!r}")
        wheel = make_wheel(name, body, position, axis, radius)
        self._lay_ground()
        if self.ground is None:
            raise MechanismError(f"wheel {name!r}: found a mechanism made without ground, expected one; set `ground`")
        self._wheels[name] = wheel
        return wheel

    def _check_touching(self, name: str, body: str, kind: str) -> None:
        checks.fresh_name(name, kind, self._collisions)
        self._check_moving(body, f"{kind} {name!r}")

    def _check_points(self, collision: Collision) -> None:
        taken = {name for other in self._collisions.values() for name in contact_names(other)}
        for name in contact_names(collision):
            checks.fresh_name(name, "contact", taken)

    def _check_moving(self, body: str, element: str) -> None:
        """Raise MechanismError for what is no body; a massless frame is named with the body it is fixed in."""
        if body in self._frames:
            carrier = self._frames[body].body
            raise MechanismError(
                f"{element} body: found {body!r}, a massless frame fixed in {carrier!r}, expected a body with mass; "
                f"name {carrier!r} and the position in its frame"
            )
        checks.one_of(body, list(self._bodies), f"{element} body")

    def _lay_ground(self) -> None:
        if self.ground is None and self._default_ground:
            self.ground = Ground()


def _check_paired(collision: Collision) -> None:
    if collision.shape is not None and collision.shape.kind not in PAIRED:
        found = f"a {collision.shape.kind}, which touches the ground alone"
        raise MechanismError(
            f"collision {collision.name!r} of body {collision.body!r}: found {found}, expected for a pair of bodies: "
            + ", ".join(PAIRED)
        )

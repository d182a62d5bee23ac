"""Curve joints, surface joints and joints of the user's own of a mechanism."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.collection import Collection
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD, Body
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.tracks.custom import CustomJoint, make_custom_joint
from vigym.mechanism.tracks.joints import Track, make_curve_joint, make_surface_joint
from vigym.mechanism.tracks.sides import Side
from vigym.mechanism.tracks.slides import Slide


class Tracks(Collection[Track]):
    """Curve joints, surface joints and joints of your own by name, `Mechanism.tracks`.

    They connect bodies wherever these are in the tree. The methods `add_...` return the record of
    the new joint and raise MechanismError as those of `Mechanism` do.

    Args:
        bodies: bodies of the mechanism.
        joints: its other joints, whose names are taken.
        elements: pairs of a name and a joint.
    """

    def __init__(
        self,
        bodies: Mapping[str, Body],
        joints: Mapping[str, Joint],
        elements: Iterable[tuple[str, Track]] = (),
    ) -> None:
        super().__init__(elements)
        self._bodies = bodies
        self._joints = joints

    @property
    def coordinate_names(self) -> list[str]:
        """Names of all coordinates, which motors take."""
        return [name for track in self.values() for name in track.coordinate_names]

    def add_curve(
        self,
        name: str,
        parent: str,
        child: str,
        curve: Side,
        point: ArrayLike = (0.0, 0.0, 0.0),
        axis: ArrayLike | None = None,
        slide: Slide | None = None,
    ) -> Track:
        """Keep a point of a body on a curve of another one, wherever both are in the tree.

        Args:
            name: unique among joints; `Mechanism.add_motor` takes it, too.
            parent: body with the curve, or "world".
            child: body with the point, or "world".
            curve: of `vigym.mechanism.tracks.curves`: `Circle`, `Helix`, `Line`, `Bezier`,
                `BSpline`, `Fitted`, `Curve`. The ends of an open one are limits.
            point: in the child's frame (3,) [m].
            axis: direction in the child's frame (3,) that stays along the curve; None: free.
            slide: damper, spring, friction and limits along the curve.
        """
        self._check_new("curve joint", name, parent, child)
        new = make_curve_joint(name, (parent, child), curve, point, axis, slide)
        return self.add(name, new)

    def add_surface(
        self, name: str, parent: str, child: str, first: Side, second: Side, spin: bool = True
    ) -> Track:
        """Keep two surfaces in touch at one point, where they slide and roll freely.

        They touch where they are nearest at the assembly pose; starts move them together. They
        never part: the force may pull. The edges of a patch are limits. Where both fit along a
        curve (linked tori that turn far about the normal) the contact point is singular: steps fail
        before, with a warning that names the joint. `spin=False` keeps linked tori off.

        Args:
            name: unique among joints.
            parent: body name or "world".
            child: another one.
            first: surface of the parent, of `vigym.mechanism.tracks.surfaces`: `Sphere`, `Torus`,
                `Cylinder`, `Plane`, `Ellipsoid`, `Patch`; a curve or a
                `vigym.mechanism.tracks.sides.Point` if the other is a surface or has a tube.
            second: surface of the child.
            spin: whether the bodies may turn against each other about the normal. False keeps the
                angle between a direction of each at that of the assembly: of the tangent along a
                torus, cylinder or curve, of the first tangent of a plane or patch, of the z axis of
                a sphere or ellipsoid along its surface, which is undefined at its poles: steps
                that come near them fail.
        """
        self._check_new("surface joint", name, parent, child)
        new = make_surface_joint(name, (parent, child), (first, second), spin)
        return self.add(name, new)

    def add_custom(
        self,
        name: str,
        parent: str,
        child: str,
        transform: Callable[[Any], Any],
        start: ArrayLike = 0.0,
        position: ArrayLike = (0.0, 0.0, 0.0),
        slides: Slide | Sequence[Slide | None] | None = None,
    ) -> CustomJoint:
        """Hold a body to another one by a joint of your own: its pose by coordinates.

        The pose of the child's frame in the parent's is `transform(q)`. numba compiles it when a
        simulator is made; kernels stay as they are. Derivatives come from complex numbers, exact to
        rounding: q is an array of them. To pickle a simulator, define the function in a module.
        `sim.tracks.position(name)` and `sim.tracks.velocity(name)` are q and its rates.

        Args:
            name: unique among joints. `Mechanism.add_motor` takes it if there is one coordinate, of
                several "name:0", "name:1", ...
            parent: body name or "world".
            child: another one.
            transform: of q (n,) to (position (3,), orientation), in the parent's frame [m]; the
                orientation is a unit quaternion (w, x, y, z) or a rotation matrix (3, 3). It is
                made of arithmetic and numpy's functions that take complex numbers, without abs.
            start: coordinates (n,) at the assembly, 1 <= n <= 5, or one number.
            position: of the parent's frame at the assembly (3,) [m, world]; its axes are the
                world's there. The child's frame is where `transform(start)` puts it.
            slides: damper, spring, friction and limits along each coordinate; None: none.

        Raises:
            MechanismError: a transform of other shapes, that is not rigid or finite, whose
                derivatives are not those of its differences, or whose coordinates move the child
                alike.
        """
        self._check_new("custom joint", name, parent, child)
        still = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        first, second = (
            (end, still if end == WORLD else _pose(self._bodies[end])) for end in (parent, child)
        )
        new = make_custom_joint(name, (first, second), transform, start, position, slides)
        self.add(name, new)
        return new

    def check_motor(self, joint: str, driven: Container[str]) -> None:
        """Raise MechanismError for a joint or coordinate that cannot have a motor, or has one."""
        element = f"motor of joint {joint!r}"
        if joint not in self.coordinate_names:
            names = self[joint].coordinate_names
            found = "no coordinate of it" if names else "a surface joint"
            expected = f"one of {names}" if names else "a curve joint"
            raise MechanismError(f"{element}: found {found}, expected {expected}")
        if joint in driven:
            raise MechanismError(f"{element}: found a second motor on it, expected one")

    def _check_new(self, kind: str, name: str, *ends: str) -> None:
        checks.require_new_name(name, kind, self, self._joints)
        for end in ends:
            checks.require_one_of(end, self._bodies, f"{kind} {name!r} body", (WORLD,))


def _pose(body: Body) -> tuple[Array, Array]:
    """Return position and quaternion of a body at the assembly."""
    return np.asarray(body.position), np.asarray(body.orientation)

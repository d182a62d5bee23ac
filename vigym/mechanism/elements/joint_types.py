"""Joint types as rows of data: which translations and rotations each leaves free."""

from dataclasses import dataclass


@dataclass(frozen=True)
class JointType:
    """Row of the table of joint types.

    Attributes:
        name: key in `JOINT_TYPES`.
        translations: free translations, columns of the joint frame fixed in the parent.
        rotations: free rotations, columns of the joint frame fixed in the child (universal: the
            first of them, the frame's column 2, is fixed in the parent).
        positions: names of the position coordinates.
        velocities: names of the velocity coordinates, one per degree of freedom; by default those
            of the positions.
        pybullet: number in pybullet, which reads floating joints as fixed ones; None where pybullet
            has none.
        bounded: whether URDF files give limits.
    """

    name: str
    translations: tuple[int, ...]
    rotations: tuple[int, ...]
    positions: tuple[str, ...]
    velocities: tuple[str, ...] = ()
    pybullet: int | None = None
    bounded: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocities", self.velocities or self.positions)

    @property
    def dofs(self) -> int:
        """Number of degrees of freedom."""
        return len(self.velocities)

    @property
    def has_quaternion(self) -> bool:
        """Whether the rotation is free and its coordinate a unit quaternion."""
        return len(self.rotations) == 3

    @property
    def has_ball(self) -> bool:
        """Whether three rotations are free, but not everything."""
        return self.has_quaternion and self.dofs < 6

    @property
    def limit_count(self) -> int:
        """Number of coordinates that may have limits: those of a ball and floating have none."""
        if self.has_quaternion:
            return len(self.translations) if self.has_ball else 0
        return self.dofs

    @property
    def needs_axis(self) -> bool:
        """Whether the joint has an axis, along or about which coordinates are counted."""
        isotropic = self.has_quaternion and len(self.translations) in (0, 3)
        return self.dofs > 0 and not isotropic

    @property
    def needs_second_axis(self) -> bool:
        """Whether the joint turns about two axes."""
        return len(self.rotations) == 2

    @property
    def turns_about_axis(self) -> bool:
        """Whether the only free rotation is the one about the axis."""
        return self.rotations == (2,)

    @property
    def is_symmetric(self) -> bool:
        """Whether the joint is of the same type with parent and child exchanged."""
        return len(self.translations) in (0, 3) or len(self.rotations) < 2

    @property
    def can_close_loop(self) -> bool:
        """Whether the joint constrains anything."""
        return self.dofs < 6


_ANGLE, _QUATERNION = ("angle",), ("qw", "qx", "qy", "qz")
_ANGLES, _ANGULAR = ("angle1", "angle2"), ("wx", "wy", "wz")
_POSE, _TWIST = ("x", "y", "z", *_QUATERNION), ("vx", "vy", "vz", *_ANGULAR)

JOINT_TYPES: dict[str, JointType] = {
    row.name: row
    for row in (
        # name, free translations, rotations, positions, velocities if others; pybullet.JOINT_...
        JointType("fixed", (), (), (), pybullet=4),
        JointType("revolute", (), (2,), _ANGLE, pybullet=0, bounded=True),
        JointType("continuous", (), (2,), _ANGLE, pybullet=0),
        JointType("prismatic", (2,), (), ("distance",), pybullet=1, bounded=True),
        JointType("cylindrical", (2,), (2,), ("distance", "angle")),
        JointType("spherical", (), (0, 1, 2), _QUATERNION, _ANGULAR, pybullet=2),
        JointType("planar", (0, 1), (2,), ("x", "y", "angle"), pybullet=3),
        JointType("universal", (), (2, 0), _ANGLES),
        JointType("floating", (0, 1, 2), (0, 1, 2), _POSE, _TWIST, pybullet=4),
        # Every other free set of translations, none, along the axis, across it or all, with every
        # free set of rotations, none, about the axis, about two axes or all.
        JointType("sliding_on_plane", (0, 1), (), ("x", "y")),
        JointType("fixed_orientation", (0, 1, 2), (), ("x", "y", "z")),
        JointType("fixed_direction", (0, 1, 2), (2,), ("x", "y", "z", "angle")),
        JointType("universal_on_line", (2,), (2, 0), ("distance", *_ANGLES)),
        JointType("universal_on_plane", (0, 1), (2, 0), ("x", "y", *_ANGLES)),
        JointType("universal_in_space", (0, 1, 2), (2, 0), ("x", "y", "z", *_ANGLES)),
        JointType(
            "point_on_line", (2,), (0, 1, 2), ("distance", *_QUATERNION), ("distance", *_ANGULAR)
        ),
        JointType(
            "point_on_plane", (0, 1), (0, 1, 2), ("x", "y", *_QUATERNION), ("x", "y", *_ANGULAR)
        ),
    )
}

"""The Mechanism builder: what a person writes a system of bodies and joints in."""

import os
from typing import Any

from numpy.typing import ArrayLike

from vigym.mechanism.add_contacts import AddContacts
from vigym.mechanism.add_forces import AddForces
from vigym.mechanism.add_parts import AddParts
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import Ground, make_ground


class Mechanism(AddParts, AddForces, AddContacts, checks.ReadOnly):
    """Named bodies and joints at one assembly pose; every value is checked when it is added.

    An element that is refused leaves the mechanism as it was. Bodies that no joint carries float freely: each gets
    an implicit joint named `<body>:floating`.

    Args:
        gravity: acceleration of free fall in the world (3,) [m/s^2].
        ground: True (the plane z = 0), a `Ground`, False for none, or None: the plane z = 0 when the first contact,
            collision or wheel is added, none before. Without a ground what touches is kept and touches nothing.
        name: shown in summaries.

    Attributes:
        report: list of `Report`: what is not simulated exactly as it was written.

    Raises:
        MechanismError: gravity that is not three finite numbers, or a wrong ground.
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        ground: bool | Ground | None = None,
        name: str = "mechanism",
    ) -> None:
        super().__init__()
        self.gravity = checks.vector(gravity, "gravity [m/s^2]")
        self.ground = make_ground(ground)
        self._default_ground = ground is None
        self.name = checks.fresh_name(name, "mechanism", ())

    def __repr__(self) -> str:
        return f"<Mechanism {self.name!r}: {len(self._bodies)} bodies, {len(self._joints)} joints>"

    def summary(self) -> str:
        """Return a text of all elements, degrees of freedom and the report."""
        from vigym.mechanism.summary import summary

        return summary(self)

    def to_urdf(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return this mechanism as a URDF file, loops included, and write it to `path`; `load_urdf` reads it back.

        What has no place in it and is to be given again after loading (the ground, motors) is in its comments.

        Raises:
            MechanismError: what else has no place: other gravity, springs, armature, some types, limits of several
                freedoms, friction that depends on the direction, pairs, skates, wheels.
        """
        from vigym.urdf.write.write import to_urdf

        return to_urdf(self, path)

    def compile(self, loops: str = "auto") -> Any:
        """Return the constant tables the stepper works on; `loops` as in `Simulator`."""
        from vigym.simulation.compile.model import build_model

        return build_model(self, loops)

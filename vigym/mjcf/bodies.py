"""Bodies of a compiled model: bodies without a joint between them are one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.mjcf.compiled import Compiled
from vigym.spatial import IDENTITY, Pose


@dataclass(frozen=True, eq=False)
class Group:
    """Bodies of the model that are one body of the mechanism.

    Attributes:
        name: of the body.
        root: number of the body that has the joints.
        mass: [kg].
        center: centre of mass in the root's frame (3,) [m].
        inertia: about it in the root's axes (3, 3) [kg m^2].
        pose: of the centre of mass and the root's axes in the world.
    """

    name: str
    root: int
    mass: float
    center: Array
    inertia: Array
    pose: Pose


class Robot:
    """Elements of a compiled model with names and places, and the mechanism made of them.

    Args:
        compiled: the model.
        mechanism: to be filled.

    Attributes:
        roots: for each body of the model, that which has the joints of its group; 0 for the world.
    """

    def __init__(self, compiled: Compiled, mechanism: Mechanism) -> None:
        self.compiled = compiled
        self.model = compiled.model
        self.data = compiled.data
        self.mechanism = mechanism
        self._names: dict[str, set[str]] = {}
        moves = self.model.body_jntnum[self.model.body_weldid] > 0  # mocap bodies do not
        self.roots = np.where(moves, self.model.body_weldid, 0)

    def name(self, kind: str, number: int, default: str = "") -> str:
        """Return the name of an element ("body", "joint", ...), or one that no other has."""
        return str(getattr(self.model, kind)(number).name) or default or f"{kind}{number}"

    def new_name(self, kind: str, first: str) -> str:
        """Return a name that no earlier one of this kind has, with a number if need be."""
        taken = self._names.setdefault(kind, set())
        found, number = first, 2
        while found in taken or found == WORLD:
            found, number = f"{first}_{number}", number + 1
        taken.add(found)
        return found

    def is_single(self, joint: int) -> bool:
        """Return whether a joint of the model is a hinge or slide."""
        return int(self.model.jnt_type[joint]) >= 2

    def note(self, action: str, element: str, message: str) -> None:
        """Add a note, with arguments as in `Note`."""
        self.mechanism.notes.append(Note(action, element, message))

    def note_all(self, action: str, kind: str, names: list[str], message: str) -> None:
        """Add one note on several elements of a kind, if there are any."""
        if names:
            more = f", ... ({len(names)} in all)" if len(names) > 8 else ""
            self.note(action, f"{kind}: {', '.join(names[:8])}{more}", message)

    def pose(self, kind: str, number: int) -> Pose:
        """Return the place of a "body", "geom" or "site" in the world."""
        prefix = {"body": "x", "geom": "geom_x", "site": "site_x"}[kind]
        position, matrix = (getattr(self.data, prefix + part) for part in ("pos", "mat"))
        return Pose(np.array(position[number]), np.array(matrix[number]).reshape(3, 3))

    @cached_property
    def groups(self) -> dict[int, Group]:
        """Bodies that move, by the number of their root."""
        members: dict[int, list[int]] = {}
        for body, root in enumerate(self.roots.tolist()):
            if root:
                members.setdefault(root, []).append(body)
        return {root: self._group(root, bodies) for root, bodies in members.items()}

    def _group(self, root: int, bodies: list[int]) -> Group:
        frame = self.pose("body", root)
        m, d = self.model, self.data
        masses = m.body_mass[bodies]
        mass = float(masses.sum())
        center = masses @ d.xipos[bodies] / mass if mass else frame.position
        inertia = np.zeros((3, 3))
        for body in bodies:
            axes = frame.rotation.T @ np.array(d.ximat[body]).reshape(3, 3)
            arm = frame.rotation.T @ (d.xipos[body] - center)
            inertia += (axes * m.body_inertia[body]) @ axes.T
            inertia += m.body_mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        inertia = 0.5 * (inertia + inertia.T)
        own = frame.rotation.T @ (center - frame.position)
        name = self.new_name("body", self.name("body", root))
        return Group(name, root, mass, own, inertia, Pose(np.array(center), frame.rotation))

    def carrier(self, body: int) -> str:
        """Return the body of the mechanism, or "world", that has a body of the model."""
        root = int(self.roots[body])
        return self.groups[root].name if root else WORLD

    def carrier_pose(self, body: int) -> Pose:
        """Return the place of the body of the mechanism that has a body of the model."""
        root = int(self.roots[body])
        return self.groups[root].pose if root else IDENTITY

    @cached_property
    def excluded(self) -> set[int]:
        """Signatures of the pairs of bodies that do not touch."""
        return set(self.model.exclude_signature.tolist())

    @cached_property
    def geom_pairs(self) -> dict[frozenset[int], int]:
        """Numbers of the <pair> elements by their geoms; none where contacts are disabled."""
        import mujoco

        m = self.model
        if m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONTACT):
            return {}
        ends = zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
        return {frozenset(pair): number for number, pair in enumerate(ends)}

    def add_frames(self) -> None:
        """Add bodies that are parts of others, and named sites, as frames."""
        m = self.model
        parts = [("body", b, b) for b in range(1, m.nbody) if self.roots[b] != b]
        sites = [("site", s, int(m.site_bodyid[s])) for s in range(m.nsite)]
        for kind, number, body in [*parts, *sites]:
            name = self.name(kind, number)
            if not getattr(m, kind)(number).name:
                continue
            place = self.carrier_pose(body).inverse @ self.pose(kind, number)
            name = self.new_name("body", name)
            self.mechanism.add_frame(name, self.carrier(body), place.position, place.orientation)


def enum_name(kind: Any, value: int) -> str:
    """Return the end of the name of a value of one of mujoco's enumerations, in small letters."""
    return str(kind(value).name).rpartition("_")[2].lower()

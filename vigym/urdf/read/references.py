"""References of a URDF file: the links that joints connect, and the joints that others follow."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.read.dialect import ADDITIONS, BODY
from vigym.urdf.read.records import Addition, LoopJoint, TreeJoint

Reference = tuple[str, str, str]  # element in words; "link" or "joint" and the name of that


def find_references(
    joints: list[TreeJoint], loops: list[LoopJoint], additions: Sequence[Addition]
) -> Iterator[Reference]:
    """Yield the references of elements; loops and additions may have the world without a link."""
    for joint in joints:
        yield f"{joint.place} <parent>", "link", joint.parent
        yield f"{joint.place} <child>", "link", joint.child
    for loop in loops:
        for link in (loop.parent, loop.child):
            if link != WORLD:
                yield loop.place, "link", link
    for each in additions:
        for end in (name for name, kind in ADDITIONS[each.tag].items() if kind == BODY):
            if each.values[end] != WORLD:
                yield each.place, "link", each.values[end]
    for joint in joints:
        if joint.mimic is not None and not joint.is_fixed:  # a fixed joint follows no other joint
            yield joint.mimic.place, "joint", joint.mimic.joint


def check_reference(path: Path, names: dict[str, set[str]], reference: Reference) -> None:
    """Raise UrdfError for a name that no element of its kind has; `names` by kind."""
    place, kind, name = reference
    if name not in names[kind]:
        found = f"unknown {kind} {name!r}"
        raise UrdfError(f"{path}: {place}: found {found}, expected the name of a {kind}")

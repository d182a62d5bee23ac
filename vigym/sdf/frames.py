"""Frames of an SDF model: the poses in the world of what has a name in it."""

from collections.abc import Iterable

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.read.dialect import QUATERNION
from vigym.urdf.read.geometry import read_pose
from vigym.urdf.read.xml import Node

MODEL = "__model__"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def text_of(node: Node, tag: str) -> str:
    """Return the text of the child `tag`.

    Raises:
        UrdfError: no such child, several, or no text in it.
    """
    child = node.need(tag)
    text = (child.element.text or "").strip()
    if not text:
        raise child.error("no text", "a name")
    return text


def number_of(node: Node | None, tag: str, default: float) -> float:
    """Return the number in the child `tag`; `default` without the child or without the node."""
    child = None if node is None else node.only(tag)
    return default if child is None else float(child.content()[0])


def boolean_of(node: Node, text: str, default: bool) -> bool:
    """Return a truth value of XML, `default` where it is empty.

    Raises:
        UrdfError: another text.
    """
    word = text.strip().lower()
    if word and word not in _BOOLEANS:
        raise node.error(repr(text), "true or false")
    return _BOOLEANS.get(word, default)


class Frames:
    """Frames of a model, by the names of its links, joints and frames.

    Args:
        model: element, without unknown elements.
    """

    def __init__(self, model: Node) -> None:
        tags = ("frame", "joint", "link")  # a link counts where names are equal
        self._nodes = {node.text("name"): node for tag in tags for node in model.children(tag)}
        base, pose = _written(model)
        if base not in ("", WORLD):
            raise model.error(f"<pose> relative to {base!r}", "one relative to the world")
        self._poses = {MODEL: pose}
        links = (node.text("name") for node in model.children("link"))
        self._links = {WORLD, *links}

    def of(self, node: Node, default: str) -> Pose:
        """Return the pose of an element, whose <pose> is relative to the frame `default`."""
        base, pose = _written(node)
        return self.pose(node, base or default) @ pose

    def pose(self, node: Node, name: str) -> Pose:
        """Return the pose of a frame; `node` is the element that refers to it.

        Raises:
            UrdfError: an unknown frame, or frames that refer to each other.
        """
        chain: dict[str, Pose] = {}
        while name not in self._poses:
            if name not in self._nodes:
                raise node.error(f"frame {name!r}", "a link, joint or frame of the model")
            _check_new(node, name, chain)
            base, chain[name] = _written(self._nodes[name])
            name = base or _above(self._nodes[name])
        pose = self._poses[name]
        for each, offset in reversed(chain.items()):
            pose = self._poses[each] = pose @ offset
        return pose

    def link(self, node: Node, tag: str) -> str:
        """Return the link, or the world, of the frame that the child `tag` names.

        Raises:
            UrdfError: an unknown frame, one that is on no link, or frames that refer to each other.
        """
        name = text_of(node, tag)
        link = self._end(node, name)
        if link not in self._links:
            raise node.error(f"<{tag}> {name!r}", "a link, or a frame that is on a link")
        return link

    def check(self) -> None:
        """Raise UrdfError for frames that refer to each other, those that nothing uses too."""
        for name, node in self._nodes.items():
            self.pose(node, name)
            self._end(node, name)

    def _end(self, node: Node, name: str) -> str:
        """Return the name of what a frame is on: a link, the world, or no frame with a place."""
        chain: dict[str, None] = {}
        while name in self._nodes and name not in self._links:
            _check_new(node, name, chain)
            chain[name] = None
            name = _above(self._nodes[name])
        return name


def _check_new(node: Node, name: str, chain: Iterable[str]) -> None:
    """Raise UrdfError for a frame that is in the chain of frames which leads to it."""
    names = list(chain)
    if name in names:
        cycle = names[names.index(name) :]
        listed = ", ".join(map(repr, cycle))
        found = f"frames {listed}, which refer to each other"
        if len(cycle) == 1:
            found = f"frame {listed}, which refers to itself"
        raise node.error(found, "frames that lead to the model's own")


def _above(node: Node) -> str:
    """Return the frame that an element is on and, by default, placed in."""
    if node.tag == "joint":
        return text_of(node, "child")
    return node.optional_text("attached_to") or MODEL


def _written(node: Node) -> tuple[str, Pose]:
    """Return the frame that a <pose> names, empty without, and the pose in it."""
    pose = node.only("pose")
    if pose is None:
        return "", IDENTITY
    base = pose.optional_text("relative_to") or pose.optional_text("frame")
    if not (pose.element.text or "").strip():
        return base, IDENTITY
    kind = pose.optional_text("rotation_format") or "euler_rpy"
    if kind not in ("euler_rpy", QUATERNION):
        raise pose.error(f"rotation_format={kind!r}", f"euler_rpy or {QUATERNION}")
    values = pose.content(6 if kind == "euler_rpy" else 7)
    if kind == "euler_rpy" and boolean_of(pose, pose.optional_text("degrees"), False):
        values[3:] = np.radians(values[3:])
    rotation = "rpy" if kind == "euler_rpy" else QUATERNION
    pose.element.set("xyz", as_text(values[:3]))
    pose.element.set(rotation, as_text(values[3:]))
    return base, read_pose(pose)


def as_text(values: Array) -> str:
    """Return numbers with all digits, separated by blanks."""
    return " ".join(map(repr, values.tolist()))

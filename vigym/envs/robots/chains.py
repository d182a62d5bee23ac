"""Chains of any number of links, from files with some of them."""

import re
from copy import deepcopy
from xml.etree.ElementTree import Element

# Attributes that scale with the length of all parts, by tag, with the power.
_POWERS = {
    "origin": {"xyz": 1},
    "sphere": {"radius": 1},
    "capsule": {"radius": 1, "length": 1},
    "mass": {"value": 1},  # of rods whose sum stays
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 3),
}
_NUMBER = re.compile("(?<=[a-z])[0-9]+")  # at the end of a word: of link2, joint1


def repeat_links(robot: Element, links: int) -> None:
    """Give a chain another number of links: its last two are repeated, or the last ones left out.

    Args:
        robot: <robot> with links link1, link2, ..., and with numbers in the names of their parts.
        links: number of links, at least 1.
    """
    parts: dict[int, list[Element]] = {}
    for part in list(robot):
        parts.setdefault(max(_numbers(part), default=0), []).append(part)
        robot.remove(part)
    last = max(parts)
    for link in range(links + 1):
        source = min(link, last - (link - last) % 2)
        robot.extend(_renumbered(part, link - source) for part in parts.get(source, ()))


def scale_chain(robot: Element, scale: float) -> None:
    """Scale lengths and masses of all parts of a chain; those of all links together stay.

    Args:
        robot: <robot>.
        scale: number of links before, over that now.
    """
    for part in robot.iter():
        for name, power in _POWERS.get(part.tag, {}).items():
            values = (float(word) * float(scale) ** power for word in part.attrib[name].split())
            part.set(name, " ".join(map(repr, values)))


def _numbers(part: Element) -> list[int]:
    values = (value for each in part.iter() for value in each.attrib.values())
    return [int(number) for value in values for number in _NUMBER.findall(value)]


def _renumbered(part: Element, by: int) -> Element:
    """Return a copy with other numbers in its names."""
    copied = deepcopy(part)
    for each in copied.iter():
        for name, value in each.attrib.items():
            each.set(name, _NUMBER.sub(lambda found: str(int(found[0]) + by), value))
    return copied

"""Ordered collections of named elements, and forests over names."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

Element = TypeVar("Element")


class Collection(Mapping[str, Element]):
    """Mapping from names to elements in the order they were added.

    Args:
        elements: pairs of a name and an element.
    """

    def __init__(self, elements: Iterable[tuple[str, Element]] = ()) -> None:
        self._elements = dict(elements)

    def __getitem__(self, name: str) -> Element:
        return self._elements[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __repr__(self) -> str:
        return repr(self._elements)

    def add(self, name: str, element: Element) -> Element:
        """Append an element that is checked and return it."""
        self._elements[name] = element
        return element

    def newest(self, start: int) -> list[Element]:
        """Return the elements from number `start` on."""
        return list(islice(reversed(self._elements.values()), len(self) - start))[::-1]


class Forest:
    """Disjoint-set forest over names."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether a name has a parent."""
        return name in self._above

    def add(self, name: str, above: str) -> None:
        """Set the parent of a name."""
        self._above[name] = above

    def root(self, name: str) -> str:
        """Return the root of a name's tree; the name itself where it has no parent."""
        path = []
        while name in self._above:
            path.append(name)
            name = self._above[name]
        for below in path:  # a shorter way for the next time
            self._above[below] = name
        return name

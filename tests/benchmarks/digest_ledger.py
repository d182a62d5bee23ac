"""Digests of quantities that are read in sequence."""

import hashlib

import numpy as np


class Ledger:
    """Keeps one digest for each quantity of a scene.

    An entry has the digest of all readings, a trail of two letters for each reading, by which a
    comparison tells where quantities part, and the size (root of the mean square) of the last one.
    """

    def __init__(self):
        self._hashes = {}
        self._trails = {}
        self._sizes = {}

    def add(self, name, value):
        """Add a reading of numbers to a quantity."""
        numbers = np.ascontiguousarray(value)
        self._update(name, numbers.tobytes())
        squares = np.square(numbers, dtype=np.float64)
        self._sizes[name] = float(np.sqrt(squares.mean())) if numbers.size else 0.0

    def add_text(self, name, text):
        """Add a text to a quantity."""
        self._update(name, text.encode())
        self._sizes[name] = float(len(text))

    def entries(self):
        """Return quantity -> its digest, trail and last size."""
        return {
            name: {
                "digest": self._hashes[name].hexdigest()[:16],
                "trail": "".join(self._trails[name]),
                "size": self._sizes[name],
            }
            for name in sorted(self._hashes)
        }

    def _update(self, name, content):
        """Hash more of a quantity."""
        total = self._hashes.setdefault(name, hashlib.sha256())
        total.update(content)
        self._trails.setdefault(name, []).append(total.hexdigest()[:2])


def describe_difference(old, new):
    """Return a line that tells how an entry differs from the recorded one."""
    if old is None or new is None:
        return "is new" if old is None else "is gone"
    before = old["trail"]
    after = new["trail"]
    count = min(len(before), len(after)) // 2
    equal = [before[2 * i : 2 * i + 2] == after[2 * i : 2 * i + 2] for i in range(count)]
    first = equal.index(False) + 1 if False in equal else count + 1
    sizes = f"{old['size']:.12g} -> {new['size']:.12g}"
    return f"differs from reading {first} of {len(before) // 2} on, last size {sizes}"

"""Every inertia of a file that no rigid body has: the importer stops at the first."""

import os

from vigym.mechanism.check import inertia_fault
from vigym.urdf.gate import read
from vigym.urdf.node import read_robot


def inertia_faults(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return what is wrong with the inertia of links with mass, by name.

    Raises:
        UrdfError: a file that cannot be read at all.
    """
    links = read(read_robot(path)).links.values()
    faults = {link.name: inertia_fault(link.inertia) for link in links if link.mass}
    return {name: fault for name, fault in faults.items() if fault}

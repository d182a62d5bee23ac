"""Pieces of URDF text for the tests, and a fixture that writes and loads them."""

import pytest

from vigym.mechanism.mechanism import Mechanism
from vigym.urdf.load import load_urdf

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, type: str, parent: str, child: str, inside: str = LIMIT) -> str:
    return f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


@pytest.fixture(name="load")
def load_fixture(tmp_path):
    """Write the elements into a robot and load it."""

    def load(*elements: str, **options) -> Mechanism:
        file = tmp_path / "robot.urdf"
        file.write_text('<robot name="r">' + "\n".join(elements) + "</robot>")
        return load_urdf(file, **options)

    return load

"""A fixture that writes URDF text and loads it."""

import pytest

from vigym.mechanism.mechanism import Mechanism
from vigym.urdf.convert.load import load_urdf


@pytest.fixture(name="load")
def load_fixture(tmp_path):
    """Write the elements into a robot and load it."""

    def load(*elements: str, **options) -> Mechanism:
        file = tmp_path / "robot.urdf"
        file.write_text('<robot name="r">' + "\n".join(elements) + "</robot>")
        return load_urdf(file, **options)

    return load

"""Fixtures that write SDF text and load it."""

import pytest

from scenes.sdf_pieces import document
from vigym.robot_files import load


@pytest.fixture(name="file")
def file_fixture(tmp_path):
    return tmp_path / "robot.sdf"


@pytest.fixture(name="read")
def read_fixture(file):
    """Write the content of a model into a file and load it."""

    def read(content, version="1.6", **options):
        file.write_text(document(content, version))
        return load(file, **options)

    return read

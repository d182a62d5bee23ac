"""Control of the joints of any URDF file: the robot of `Robot` by another name."""

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from vigym.envs.options import require
from vigym.envs.tasks.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Urdf(Robot):  # noqa: D101
    __doc__ = (Robot.__doc__ or "").replace("| `robot` |", "| `urdf` |")

    urdf: str | Path
    robot: str | Path = field(init=False, default="")

    def __post_init__(self) -> None:
        require(isinstance(self.urdf, str | PathLike), "urdf", self.urdf, "the path of a file")
        vars(self)["robot"] = self.urdf
        super().__post_init__()

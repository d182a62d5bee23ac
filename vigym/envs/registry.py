"""Table of environments as strings: registering them imports none of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec

if TYPE_CHECKING:
    from vigym.envs.task import Task

SINGLE = "vigym.envs.env:TaskEnv"
VECTOR = "vigym.envs.processes:make_vector"
STANDARD = "vigym.envs.standard"
ZOO = "vigym.envs.zoo"


@dataclass(frozen=True)
class Entry:
    """Entry of one registered environment.

    Attributes:
        id: argument of `gymnasium.make`.
        task: its Task class, or the place of one as "module:class".
        max_episode_steps: control steps until an episode is truncated; None: never.
        reward_threshold: mean return that counts as solved, reached in training runs; None without
            such runs.
        kwargs: options of the environment that differ from the defaults of its task, such as
            {"urdf": "robot.urdf"}.
    """

    id: str
    task: type[Task] | str
    max_episode_steps: int | None = None
    reward_threshold: float | None = None
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def register(self, replace: bool = False) -> None:
        """Register it with Gymnasium, single and vector; once more the same entry does nothing.

        Args:
            replace: whether to replace another environment of this id.

        Raises:
            ValueError: the id belongs to another environment.
        """
        arguments: dict[str, Any] = {
            "id": self.id,
            "entry_point": SINGLE,
            "vector_entry_point": VECTOR,
            "max_episode_steps": self.max_episode_steps,
            "reward_threshold": self.reward_threshold,
            "kwargs": {"task": self.task, **self.kwargs},
        }
        known = gymnasium.registry.get(self.id)
        if known is not None and _same_value(vars(known), vars(EnvSpec(**arguments))):
            return
        if known is not None and not replace:
            found = known.kwargs.get("task", known.entry_point)
            expected = "a new id, or register(replace=True)"
            raise ValueError(
                f"environment {self.id!r}: found it registered, as {found}, expected {expected}"
            )
        gymnasium.registry.pop(self.id, None)
        gymnasium.register(**arguments)


def _same_value(a: Any, b: Any) -> bool:
    """Return whether values are equal, arrays in them compared as a whole."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same_value(a[key], b[key]) for key in a)
    return type(a) is type(b) and np.array_equal(a, b)


ENVIRONMENTS = (
    Entry("vigym/Pendulum-v0", "vigym.envs.tasks.pendulum:Pendulum", 300, 235.0),
    Entry("vigym/CartPole-v0", "vigym.envs.tasks.cartpole:CartPole", 500, 450.0),
    Entry(
        "vigym/InvertedDoublePendulum-v0",
        "vigym.envs.tasks.inverted_double_pendulum:InvertedDoublePendulum",
        1000,
        990.0,
    ),
    Entry("vigym/Acrobot-v0", "vigym.envs.tasks.acrobot:Acrobot", 500, -85.0),
    Entry("vigym/PendulumChain-v0", "vigym.envs.tasks.pendulum_chain:PendulumChain", 500, 480.0),
    Entry("vigym/FourBar-v0", "vigym.envs.tasks.four_bar:FourBar", 400, 380.0),
    Entry("vigym/MinitaurLeg-v0", "vigym.envs.tasks.minitaur_leg:MinitaurLeg", 400, 290.0),
    Entry("vigym/Minitaur-v0", "vigym.envs.tasks.minitaur:Minitaur", 1000, 15.0),
    Entry("vigym/Quadruped-v1", "vigym.envs.tasks.quadruped:Quadruped", 500),
    Entry("vigym/QuadrupedCommand-v1", "vigym.envs.tasks.quadruped_command:QuadrupedCommand", 500),
    Entry("vigym/Exoskeleton-v0", "vigym.envs.tasks.exoskeleton:Exoskeleton", 1600),
    Entry("vigym/Snake-v0", "vigym.envs.tasks.snake:Snake", 500, 340.0),
    Entry(
        "vigym/SnakeSidewinding-v0",
        "vigym.envs.tasks.snake_sidewinding:SnakeSidewinding",
        500,
        255.0,
    ),
    Entry("vigym/InvertedPendulum-v0", f"{STANDARD}.inverted_pendulum:InvertedPendulum", 1000),
    Entry(
        "vigym/StandardDoublePendulum-v0",
        f"{STANDARD}.standard_double_pendulum:StandardDoublePendulum",
        1000,
    ),
    Entry("vigym/Reacher-v0", f"{STANDARD}.reacher:Reacher", 50),
    Entry("vigym/HalfCheetah-v0", f"{STANDARD}.half_cheetah:HalfCheetah", 1000),
    Entry("vigym/Hopper-v0", f"{STANDARD}.hopper:Hopper", 1000),
    Entry("vigym/Walker2d-v0", f"{STANDARD}.walker2d:Walker2d", 1000),
    Entry("vigym/Ant-v0", f"{STANDARD}.ant:Ant", 1000),
    Entry("vigym/Humanoid-v0", f"{STANDARD}.humanoid:Humanoid", 1000),
    Entry("vigym/Delta-v0", f"{ZOO}.delta:Delta", 100),
    Entry("vigym/Stewart-v0", f"{ZOO}.stewart:Stewart", 400),
    Entry("vigym/Excavator-v0", f"{ZOO}.excavator:Excavator", 300),
    Entry("vigym/Jansen-v0", f"{ZOO}.legs.jansen:Jansen", 400),
    Entry("vigym/Engine-v0", f"{ZOO}.engine:Engine", 400),
    Entry("vigym/Gripper-v0", f"{ZOO}.gripper:Gripper", 200),
    Entry("vigym/WheelLeg-v0", f"{ZOO}.legs.wheel_leg:WheelLeg", 400),
    Entry("vigym/BennettQuadruped-v0", f"{ZOO}.legs.bennett:BennettQuadruped", 500),
    Entry("vigym/Cassie-v0", f"{ZOO}.legs.cassie:Cassie", 400),
    Entry("vigym/CassieWalk-v0", f"{ZOO}.legs.cassie_walk:CassieWalk", 400),
    Entry("vigym/Biped-v0", f"{ZOO}.legs.biped:Biped", 500),
    Entry("vigym/Robot-v0", "vigym.envs.tasks.robot:Robot", 1000),
    Entry("vigym/Urdf-v0", "vigym.envs.tasks.urdf:Urdf", 1000),
)

# earlier versions, which keep the options that they had
_MILLISECONDS = {"timestep": 0.001, "frame_skip": 20}
EARLIER = tuple(
    replace(entry, id=entry.id.replace("-v1", "-v0"), kwargs=_MILLISECONDS)
    for entry in ENVIRONMENTS
    if entry.id.endswith("-v1")
)


def register_all() -> None:
    """Register every environment of the table with Gymnasium, and earlier versions."""
    for entry in (*EARLIER, *ENVIRONMENTS):
        entry.register()

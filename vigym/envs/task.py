"""Definition of an environment by constants and hooks.

Episodes, spaces, seeds and pictures are common to all tasks (`vigym.envs.env`, `.vector`).
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import cleandoc
from typing import Any, ClassVar
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike

from vigym.envs.arrays import Array as Array
from vigym.envs.arrays import Flags as Flags
from vigym.envs.options import RenderOptions
from vigym.envs.options import is_number as is_number
from vigym.envs.options import require as require
from vigym.envs.options import require_positive as require_positive
from vigym.envs.options import require_whole as require_whole
from vigym.envs.perturbations import Perturbations
from vigym.envs.robots.sensors import Sensor, require_sensors
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

Quantities = dict[str, Array]
# Coordinates of all joints, or of some by joint name: those of loops follow from the others.
Start = Array | Mapping[str, ArrayLike]

NUMBERS = frozenset([float, np.float64, bool, np.bool_])  # types of values of one environment
MOST_HISTORY = 1000  # control steps in an observation
_WEIGHT = "_weight"
_SIMULATOR = frozenset(
    ("order", "loops", "tolerance", "max_iterations", "friction_cone", "contact_solver")
)
# shared options that do not change once an environment is made
_FIXED = ("timestep", "frame_skip", "simulator", "sensors", "privileged", "history")
# Type and description of every shared option, in the order of the table.
_SHARED = {
    "timestep": ("float", "integrator step (s)"),
    "frame_skip": ("int", "integrator steps per control step"),
    "reset_noise_scale": ("float", "half width of the initial noise (rad, rad/s)"),
    "simulator": ("dict", "options of `vigym.Simulator`: loops, tolerance, friction_cone, ..."),
    "sensors": ("tuple", "readings added to the observation; see `vigym.envs.robots.sensors`"),
    "privileged": (
        "bool or tuple",
        'readings for critics, `info["privileged"]`; see `vigym.envs.robots.privileged`',
    ),
    "history": ("int", "control steps whose observations are in one, the newest last"),
    "randomization": ("dict", "random physical parameters; see `vigym.envs.perturbations`"),
    "observation_noise": (
        "float or dict",
        "standard deviation of noise on observations; see there",
    ),
    "action_latency": ("int", "control steps until an action takes effect; see there"),
    "pushes": ("tuple", "random impulses on bodies (N s, mean s between two); see there"),
    "render_mode": (
        "str",
        '"rgb_array", "depth_array", "segmentation_array", "human" (window) or "browser"',
    ),
    "width": ("int", "of pictures (pixels)"),
    "height": ("int", "of pictures (pixels)"),
    "overlay": ("tuple", 'drawn over pictures: any of "contacts" (forces), "energy" (bars)'),
    "shadow": ("bool", "whether bodies cast a shadow on the floor in pictures"),
    "camera": ("dict", "view of pictures; see `vigym.render.scene.camera.Camera`"),
}
_LAST_ARGUMENT = re.compile(r"(^## Arguments\n\n(?:\|.*(?:\n|\Z))*)", flags=re.MULTILINE)
_HISTORY = "\n\n## Version History\n\n- v0: first version.\n"


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Constants and hooks of one environment.

    The fields are the options a user may give to `gymnasium.make`; a field `<term>_weight` is the
    weight of the reward term `<term>`. Hooks are array expressions over leading dimensions `...`:
    () for one environment, (n,) for a batch (`vigym.envs.arrays.unstack` makes those of one
    environment fast). `initial` alone serves one environment, since each has its own random stream.
    A table under "## Arguments" in the docstring of a task is completed by the shared options.

    Attributes:
        weight_names: property of the task, no option: by reward term, the option that is its weight
            where that is not `<term>_weight`.
        timestep: integrator step [s].
        frame_skip: integrator steps per control step.
        simulator: options of the `vigym.Simulator` that no other option of the environment sets:
            order, loops, tolerance, max_iterations, friction_cone, contact_solver; None: none.
        sensors: whose readings follow the task's own observation.
        privileged: sensors whose readings are `info["privileged"]`, such as critics see; True:
            those of `vigym.envs.robots.privileged.privileged_sensors`; False: none.
        history: number of control steps whose observations are in one, the newest last; before an
            episode's first step all are as its first.
        reset_noise_scale: size of the random part of the initial state; 0: always the same start.
        grounded: property of the task, no option: floating bodies start in touch with the ground.
        unburied: property of the task, no option: floating bodies that would start below the ground
            start in touch with it.
        aims_to_end: property of the task, no option: `terminated` reports that the goal is reached;
            else that the episode has failed.

    Raises:
        ValueError: an option out of range.
    """

    grounded: ClassVar[bool] = False
    unburied: ClassVar[bool] = False
    aims_to_end: ClassVar[bool] = False
    weight_names: ClassVar[Mapping[str, str]] = {}

    timestep: float = 0.01
    frame_skip: int = 5
    reset_noise_scale: float = 0.1
    simulator: Mapping[str, Any] | None = None
    sensors: Sequence[Sensor] = ()
    privileged: bool | Sequence[Sensor] = False
    history: int = 1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        docstring = cls.__dict__.get("__doc__")
        if docstring:
            cls.__doc__ = complete_docstring(docstring, cls)

    def __post_init__(self) -> None:
        require_positive("timestep", self.timestep, "seconds")
        require_whole("frame_skip", self.frame_skip, 1)
        noise = self.reset_noise_scale
        require(is_number(noise) and noise >= 0.0, "reset_noise_scale", noise, "a number >= 0")
        valid = isinstance(self.simulator, Mapping | None)
        valid = valid and not set(self.simulator or ()) - _SIMULATOR
        expected = f"a dictionary with any of: {', '.join(sorted(_SIMULATOR))}"
        require(valid, "simulator", self.simulator, expected)
        require_sensors(self.sensors)
        if not isinstance(self.privileged, bool):
            require_sensors(self.privileged, "privileged")
        require_whole("history", self.history, 1, MOST_HISTORY)
        for term, weight in self.weights.items():
            option = self.weight_names.get(term, term + _WEIGHT)
            require(is_number(weight), option, weight, "a finite number")

    @cached_property
    def weights(self) -> dict[str, float]:
        """Weight of every reward term."""
        terms = {name: term for term, name in self.weight_names.items()}
        names = [field.name for field in fields(self)]
        found = [name for name in names if name in terms or name.endswith(_WEIGHT)]
        return {terms.get(name, name.removesuffix(_WEIGHT)): getattr(self, name) for name in found}

    @abstractmethod
    def mechanism(self) -> Mechanism:
        """Return the mechanism of the task."""

    @cached_property
    def built(self) -> Mechanism:
        """The mechanism, made once: hooks look up places and limits in it."""
        return self.mechanism()

    @abstractmethod
    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return joint positions and velocities of a new episode.

        Arrays are (n_positions,) and (n_velocities,) [rad, m, s]. With loops return the values of
        independent joints by name; the others follow.
        """

    def goal(self, rng: np.random.Generator) -> Mapping[str, float]:
        """Return numbers that are drawn for a new episode and stay, such as commands, by name.

        They are kept as floats. By default there are none. `info` has them, and so have the
        quantities that other hooks take. They are no part of the simulator's state.
        """
        return {}

    def terrain_maps(self, count: int) -> int:
        """Return how many maps of a terrain, the first ones, episodes are on; by default all."""
        return count

    def targets(self, action: Array) -> Array | None:
        """Return the motor targets (..., n_motors) [rad, m, per s] of an action in [-1, 1].

        By default None: actions (..., n_actuated) are torques, scaled by the efforts.
        """
        return None

    def motion(self, time: Array, goals: Quantities) -> Array | None:
        """Return motor targets (..., n_motors) of a motion that actions correct.

        Targets of the action are added to them. By default None: there are only those.

        Args:
            time: since the start of the episode (...,) [s].
            goals: of the episode, each (...,).
        """
        return None

    def motor_targets(self, action: Array, time: Array, goals: Quantities) -> Array | None:
        """Return the targets of `targets` and `motion` together; None: actions are torques."""
        targets = self.targets(action)
        motion = self.motion(time, goals)
        if targets is None or motion is None:
            return targets if motion is None else motion
        return motion + targets

    def travelled(self, sim: Simulator) -> Quantities:
        """Return values (...,) by the names of their mean rates of change over a control step.

        The rates, zero at a start, are quantities too. By default there are none.
        """
        return {}

    @abstractmethod
    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return name and bound of every entry of the observation, which is in [-bound, bound]."""

    @abstractmethod
    def quantities(self, sim: Simulator) -> Quantities:
        """Return state quantities, each (...,) or (..., n), for the other hooks and for `info`.

        Those whose names begin with an underscore are for the other hooks alone.
        """

    @abstractmethod
    def observe(self, quantities: Quantities) -> Array:
        """Return the observation (..., n_observations); it is clipped to its bounds afterwards."""

    @abstractmethod
    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the unweighted reward terms (...,) of a step.

        Args:
            quantities: after the step.
            action: in [-1, 1] (..., n_actuated).
        """

    def course(self, quantities: Mapping[str, Any]) -> Array | None:
        """Return the horizontal direction that a command asks to travel in (...,) [rad].

        From the world's x axis anticlockwise, nan where nothing is commanded. Evaluations sum the
        displacements of `x_position` and `y_position` along it. By default None: the task has no
        command.
        """
        return None

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the episode has failed or, if `aims_to_end`, reached its goal (...,)."""
        return np.zeros(quantities["joint_positions"].shape[:-1], dtype=np.bool_)


def mechanism_options(kind: type[Task], options: Mapping[str, Any]) -> set[str]:
    """Return the names of options that the mechanism of a task depends on: those that it reads."""
    read: set[str] = set()

    def recorded(task: Task, name: str) -> Any:
        read.add(name)
        return object.__getattribute__(task, name)

    recording = type(kind.__name__, (kind,), {"__getattribute__": recorded})
    with catch_warnings(action="ignore"):
        twin = recording(**options)
        for name in list(vars(twin)):
            if isinstance(getattr(kind, name, None), cached_property):
                del vars(twin)[name]  # else what it read would not be in `read`
        read.clear()
        twin.mechanism()
    return read & {field.name for field in fields(kind)}


def require_same_mechanism(
    old: Task, new: Task, dependent: Collection[str], mechanism: Mechanism
) -> None:
    """Raise ValueError unless a task has the mechanism, observations and goals of another.

    Args:
        old: task of the environment.
        new: task that is to take its place.
        dependent: options that the mechanism depends on.
        mechanism: of the old task.
    """
    for name in (*_FIXED, *sorted(dependent)):
        value, made = getattr(new, name), getattr(old, name)
        expected = f"{made!r}, with which the environment was made: another needs a new one"
        require(value is made or np.array_equal(value, made), name, value, expected)
    rng, tasks = np.random.default_rng(0), (old, new)
    kinds = [(list(task.observation(mechanism).items()), set(task.goal(rng))) for task in tasks]
    if kinds[0] != kinds[1]:
        expected = "those with which it was made: others need a new environment"
        raise ValueError(f"set_options: found other observations or commands, expected {expected}")


def require_shape(values: Quantities, kind: str, shape: tuple[int, ...], extra_axes: int) -> None:
    """Raise ValueError unless all values have a row for each environment.

    Args:
        values: by name.
        kind: of the values, for the message.
        shape: of the leading axes.
        extra_axes: most axes that may follow.
    """
    value: Any
    if not shape and NUMBERS.issuperset(map(type, values.values())):
        return
    for name, value in values.items():
        found_type = type(value)
        if found_type in NUMBERS and not shape:
            continue
        found = value.shape if found_type is np.ndarray else np.shape(value)  # np.shape is slow
        if found[: len(shape)] != shape or len(found) > len(shape) + extra_axes:
            expected = f"{shape}{' or one more axis' if extra_axes else ''}"
            raise ValueError(
                f"{kind} {name!r}: found shape {found}, expected {expected}: "
                "hooks of a task are array expressions, with a row for each environment"
            )


def require_terms(terms: Any, weights: Mapping[str, float]) -> None:
    """Raise ValueError unless the reward terms are those that have weights."""
    if not isinstance(terms, dict):
        raise ValueError(f"hook rewards: found {terms!r}, expected a dictionary of reward terms")
    if terms.keys() != weights.keys():
        raise ValueError(
            f"hook rewards: found terms {sorted(terms)}, expected those with a weight, "
            f"{sorted(weights)}: for each term the task, a dataclass, has a field `<term>_weight` "
            "with its type"
        )


def require_observation(observed: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless an observation has a row for each environment."""
    found = observed.shape if type(observed) is np.ndarray else np.shape(observed)
    if found != shape:
        raise ValueError(
            f"hook observe: found shape {found}, expected {shape}: the entries of `observation` "
            "along the last axis, behind a row for each environment"
        )


def require_goal(goal: Mapping[str, Any], names: Collection[str]) -> None:
    """Raise ValueError unless a goal has these names, and finite numbers."""
    if set(goal) != set(names):
        expected = f"{sorted(names)} as in another episode"
        raise ValueError(f"hook goal: found {sorted(goal)}, expected {expected}")
    for name, value in goal.items():
        found = np.asarray(value)
        if found.ndim or found.dtype.kind not in "biuf" or not np.isfinite(found):
            raise ValueError(f"hook goal, {name}: found {value!r}, expected a finite number")


def first_goals(task: Task, count: int) -> Quantities:
    """Return the goals (count,) that environments have before their first reset, by name."""
    goal = task.goal(np.random.default_rng(0))
    require_goal(goal, goal)
    return {name: np.full(count, float(value)) for name, value in goal.items()}


def complete_docstring(docstring: str, task: type) -> str:
    """Return a task's docstring with a row for every shared option in the table of its arguments.

    Rows in the table stay as they are; one without a table is returned unchanged. A version history
    is added if it is missing.

    Args:
        docstring: as written, its table of arguments under the heading "## Arguments".
        task: Task class, which has the defaults.
    """
    text = cleandoc(docstring)
    table = _LAST_ARGUMENT.search(text)
    if table is None:
        return docstring
    defaults = _defaults(task)
    rows = [
        f"| `{name}` | {kind} | {defaults[name]} | {description} |\n"
        for name, (kind, description) in _SHARED.items()
        if f"\n| `{name}` |" not in table[0]
    ]
    text = f"{text[: table.end()].rstrip()}\n{''.join(rows)}{text[table.end() :]}".rstrip()
    return text + "\n" if "\n## Version History\n" in text else text + _HISTORY


def _defaults(task: Any) -> dict[str, Any]:
    shared = {
        field.name: field.default
        for owner in (Perturbations, RenderOptions)
        for field in fields(owner)
    }
    return shared | {
        name: getattr(task, name)
        for name in (
            "timestep",
            "frame_skip",
            "reset_noise_scale",
            "simulator",
            "sensors",
            "privileged",
            "history",
        )
    }

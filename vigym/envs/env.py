"""Gymnasium environment of a task, one at a time.

`BaseEnv` is the part shared with the vector environment: runner, spaces and pictures.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from inspect import signature
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from vigym.envs.arrays import Array
from vigym.envs.episode import EpisodeRunner
from vigym.envs.infos import Info
from vigym.envs.options import ELSEWHERE, RenderOptions, require, require_whole, suggest
from vigym.envs.perturbations import Perturbations, split_options
from vigym.envs.random_start import START_OPTIONS, GivenStart
from vigym.envs.task import Task, mechanism_options, require_same_mechanism
from vigym.mechanism.mechanism import Mechanism
from vigym.render.overlay.marks import parse_overlay, read_marks
from vigym.render.scene.camera import Camera, CameraOption, parse_camera
from vigym.simulation.simulator import Simulator

Picture = NDArray[Any]  # uint8 of colours, float32 of depths, int32 of segmentations
Action = NDArray[np.float32]
ARRAY_MODES = ["rgb_array", "depth_array", "segmentation_array"]
MOST_PIXELS = 2**14  # along a side of a picture
_MARKED = ("rgb_array", "browser")  # modes that show an overlay


class BaseEnv:
    """Common part of single and vector environments: runner, spaces and renderers.

    A renderer is made when its first picture is drawn.

    Attributes:
        observation_names: name of every entry of the observation.
        privileged_names: name of every entry of `info["privileged"]`; none without the option.
        privileged_space: of these entries of one environment; None without the option.
    """

    metadata: dict[str, Any] = {
        "render_modes": ["human", *ARRAY_MODES, "browser"],
        "render_fps": 20,
    }
    _renderers: dict[tuple[str, Camera, int], Any]
    _given: dict[str, Any]  # options of the task and of perturbations

    def _set_up(self, runner: EpisodeRunner, render: RenderOptions) -> None:
        """Set the attributes that follow from the runner and the options of pictures.

        Raises:
            ValueError: unknown render mode, overlay, size or camera, or an option that the mode
                does not support.
        """
        mode = render.render_mode
        overlay, shadow = render.overlay, render.shadow
        modes = [None, *self.metadata["render_modes"]]
        if mode not in modes:
            raise ValueError(f"option render_mode: found {mode!r}, expected one of {modes}")
        self.render_mode: str | None = mode
        self.overlay = parse_overlay(overlay)
        if self.overlay and mode not in (None, "rgb_array", "browser"):
            expected = f"none: only pictures and pages show one, not mode {mode!r}"
            raise ValueError(f"option overlay: found {overlay!r}, expected {expected}")
        if not isinstance(shadow, bool):
            raise ValueError(f"option shadow: found {shadow!r}, expected True or False")
        if not shadow and mode in ("human", "browser"):
            expected = "True: only pictures can do without"
            raise ValueError(f"option shadow: found {shadow!r}, expected {expected}")
        require_whole("width", render.width, 1, MOST_PIXELS)
        require_whole("height", render.height, 1, MOST_PIXELS)
        self.width = render.width
        self.height = render.height
        self._shadow = shadow
        self._camera = parse_camera(render.camera)
        self._renderers = {}
        self._runner = runner
        self.__doc__ = type(self.task).__doc__
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self.dt))}
        self.observation_names = self._runner.observation_names
        self.privileged_names = list(runner.privileged_bounds)
        most = np.array(list(runner.privileged_bounds.values()))
        self.privileged_space = spaces.Box(-most, most, dtype=np.float64) if most.size else None

    def _single_spaces(self) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
        """Return the observation and action spaces of one environment."""
        bounds = self._runner.bounds
        action_shape = self._runner.efforts.shape
        return (
            spaces.Box(-bounds, bounds, dtype=np.float64),
            spaces.Box(-1.0, 1.0, action_shape, np.float32),
        )

    @property
    def task(self) -> Task:
        """Constants and hooks of the environment."""
        return self._runner.task

    @property
    def sim(self) -> Simulator:
        """The simulator; `sim.state` is a state that `reset(options={"state": ...})` restores."""
        return self._runner.sim

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism of the task."""
        return self._runner.mechanism

    @property
    def dt(self) -> float:
        """Length of a control step [s]."""
        return self._runner.dt

    @cached_property
    def _fixed(self) -> set[str]:
        return mechanism_options(type(self.task), split_options(self._given)[1])

    def set_options(self, **options: Any) -> None:
        """Change options of the task and of perturbations, such as a curriculum does.

        Starts, commands and random factors follow them from the next reset of an environment on;
        rewards, ends of episodes, pushes and noise from the next step on. The environments of a
        vector share them.

        Args:
            options: any of `gym.make` but those that the mechanism, the observations, the control
                step and pictures depend on, and `action_latency`.

        Raises:
            TypeError: an unknown option.
            ValueError: an option out of range, or one that needs a new environment.
            MechanismError: a quantity to be randomized that the mechanism has not. Nothing changes
                then, as after every error here.
        """
        for name in vars(RenderOptions()):
            expected = "one of the task or of perturbations"
            require(name not in options, name, options.get(name), expected)
        before, _ = split_options(self._given)
        given = {**self._given, **options}
        perturbations, rest = split_options(given)
        latency, made = perturbations.action_latency, before.action_latency
        require(latency == made, "action_latency", latency, f"{made}: another needs a new one")
        task = make_task(type(self.task), rest)
        require_same_mechanism(self.task, task, self._fixed, self.mechanism)
        _ = task.built  # hooks of a robot use what making it has found
        self._runner.set_task(task, perturbations)
        self._given = given

    def _description(self, more: str = "") -> str:
        """Return class, id, sizes and control step of the environment, for `repr`."""
        spec: Any = getattr(self, "spec", None)
        name = type(self.task).__name__ if spec is None else spec.id
        sizes = f"observations={len(self.observation_names)}, actions={self._runner.efforts.size}"
        return f"{type(self).__name__}({name}{more}, {sizes}, dt={self.dt:g} s)"

    def picture(
        self, mode: str = "rgb_array", camera: CameraOption = None, lane: int = 0
    ) -> Picture:
        """Return a picture of the present state, whatever the render mode.

        Several cameras, or colours and depths of one, are several calls.

        Args:
            mode: "rgb_array": colours (height, width, 3) uint8; "depth_array": distances from the
                camera along its view (height, width) [m] float32, infinite in the sky;
                "segmentation_array": indices in `mechanism.bodies` (height, width) int32, the
                number of bodies for the world and its floor, -1 for the sky.
            camera: as the option of the environment; None: the environment's own.
            lane: environment of a vector environment.

        Raises:
            ValueError: another mode, or a wrong camera.
        """
        if mode not in ARRAY_MODES:
            raise ValueError(f"picture mode: found {mode!r}, expected one of {ARRAY_MODES}")
        states = self.sim.body_states.reshape(-1, len(self.mechanism.bodies), 13)[lane]
        return self._draw(
            states, lane, mode, self._camera if camera is None else parse_camera(camera)
        )

    def _draw(
        self,
        body_states: Array,
        lane: int = 0,
        mode: str | None = None,
        camera: Camera | None = None,
    ) -> Picture:
        """Return a picture of body states (n_bodies, 13), of colours with the overlay.

        By default it has the render mode and the camera of the environment.
        """
        mode = mode or self.render_mode or "rgb_array"
        maps = np.atleast_1d(self.sim.terrain_maps)
        key = mode, camera or self._camera, int(maps[lane])
        if key not in self._renderers:
            from vigym.render.make import make_renderer

            self._renderers[key] = make_renderer(
                self.mechanism.on_terrain_map(key[2]),
                mode=mode,
                width=self.width,
                height=self.height,
                camera=key[1],
                rate=1.0 / self.dt,
                shadow=self._shadow,
            )
        marks = read_marks(self.sim, self.overlay, lane) if mode in _MARKED else None
        picture: Picture = self._renderers[key].render(
            body_states[:, 0:3], body_states[:, 3:7], marks
        )
        return picture

    def _close_renderer(self) -> None:
        """Free the renderers; the environment still steps and draws afterwards."""
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_renderers": {}}


def task_class(task: type[Task] | str) -> type[Task]:
    """Return the class itself, or the one named "module:class"."""
    if not isinstance(task, str):
        return task
    module, _, name = task.partition(":")
    found: type[Task] = getattr(import_module(module), name)
    return found


def make_task(task: type[Task] | str, options: Mapping[str, Any]) -> Task:
    """Return a task with its options.

    Raises:
        TypeError: an unknown option, or a missing one.
    """
    kind = task_class(task)
    parameters = signature(kind).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        for name in options:
            if name not in parameters:
                hint = ELSEWHERE.get(name) or suggest(name, list(option_defaults(kind)))
                raise TypeError(f"options of {kind.__name__}: found {name!r}, {hint}")
    for name, one in parameters.items():
        if one.kind is one.KEYWORD_ONLY and one.default is one.empty and name not in options:
            raise TypeError(f"options of {kind.__name__}: expected the option {name!r}")
    return kind(**options)


def option_defaults(task: type[Task] | str) -> dict[str, Any]:
    """Return the options of an environment with their defaults; `Parameter.empty` without."""
    owners = (task_class(task), Perturbations, RenderOptions)
    return {
        name: one.default for owner in owners for name, one in signature(owner).parameters.items()
    }


def require_options(options: dict[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """Return the options of a reset, {} for None.

    Raises:
        ValueError: an unknown option, or no dictionary.
    """
    given = {} if options is None else options
    if not isinstance(given, dict):
        raise ValueError(f"reset options: found {given!r}, expected a dictionary")
    unknown = sorted(set(given) - set(known))
    if unknown:
        expected = " and ".join(map(repr, known))
        raise ValueError(f"reset options: found {unknown}, expected only {expected}")
    return given


class TaskEnv(BaseEnv, gymnasium.Env[Array, Action]):
    """Gymnasium environment of one task.

    Actions in [-1, 1] are scaled by the efforts of the actuated joints or, if the task has motors,
    mapped to their targets; actions outside are clipped, with `info["action_clipped"]` set. A step
    that the solver cannot make ends the episode with `info["solver_converged"] = False` and the
    state before it.

    Args:
        task: Task class, or its place as "module:class".
        render_mode: None, "rgb_array" (pictures), "depth_array" (distances along the view [m]),
            "segmentation_array" (indices of bodies), "human" (window) or "browser" (web page).
        width: of pictures [pixels].
        height: of pictures [pixels].
        overlay: drawn over pictures: any of "contacts" (forces as arrows) and "energy" (bars).
        shadow: whether bodies cast a shadow on the floor; pictures without are drawn faster.
        camera: view of pictures; see `vigym.envs.options.RenderOptions`.
        options: fields of the task, and of `vigym.envs.perturbations.Perturbations`.

    Raises:
        ValueError: unknown render mode, overlay or camera, or an option out of range.
        TypeError: an unknown option, or a missing one.
        MechanismError: the mechanism cannot be driven.
    """

    def __init__(
        self,
        task: type[Task] | str,
        *,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
        overlay: tuple[str, ...] | str = (),
        shadow: bool = True,
        camera: CameraOption = None,
        **options: Any,
    ) -> None:
        self._given = options
        perturbations, options = split_options(options)
        runner = EpisodeRunner(
            make_task(task, options), perturbations=perturbations, streams=self._streams
        )
        render = RenderOptions(
            render_mode=render_mode,
            width=width,
            height=height,
            overlay=overlay,
            shadow=shadow,
            camera=camera,
        )
        self._set_up(runner, render)
        self.observation_space, self.action_space = self._single_spaces()

    def __repr__(self) -> str:
        return self._description()

    def _streams(self) -> list[np.random.Generator]:
        return [self.np_random]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: of the random initial state.
            options: {"state": array} continues from a state saved as `env.unwrapped.sim.state`,
                with the goals that the environment has (`Task.goal`), but without the actions that
                the option `action_latency` still held back;
                {"positions": {joint: value}, "velocities": {joint: value}} starts from these
                [rad, m, per s], and from random values for the joints without. Both may be whole
                arrays, (n_positions,) and (n_velocities,). Names are those of joints or of
                `mechanism.position_names` and `mechanism.velocity_names`. A floating body
                whose height is given stays there, others are put on the ground.

        Raises:
            ValueError: another option, a state that does not fit, names or numbers that are wrong.
                The environment is unchanged.
            AssemblyError: positions at which a loop cannot be closed.
        """
        given = GivenStart(**require_options(options, START_OPTIONS))
        given.check(self.sim, np.ones(1, dtype=np.bool_))
        super().reset(seed=seed)
        self._runner.start_random([self.np_random], np.ones(1, dtype=np.bool_), given)
        observation, read_info = self._runner.reset_result()
        self._show()
        return observation, read_info()

    def step(self, action: Action) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply `action` (n_actuated,) for one control step.

        Raises:
            ValueError: wrong shape or numbers that are not finite; the environment is unchanged.
        """
        result = self._runner.step(action)
        self._show()
        observation, reward, terminated, read_info = result
        return observation, float(reward), bool(terminated), False, Info.unread(read_info)

    def render(self) -> Picture | None:
        """Return the picture in the modes of arrays; show it in the other modes."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                'render() without a render mode: make the environment with render_mode="rgb_array"'
            )
            return None
        picture = self._draw(self.sim.body_states)
        return picture if self.render_mode in ARRAY_MODES else None

    def close(self) -> None:
        """Free the renderer; the environment still steps afterwards."""
        self._close_renderer()

    def _show(self) -> None:
        if self.render_mode in ("human", "browser"):
            self.render()

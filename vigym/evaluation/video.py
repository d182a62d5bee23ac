"""Videos of episodes, and episodes shown live."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vigym.evaluation.blocks import check_limit
from vigym.evaluation.controllers import check_controller, make_policy
from vigym.evaluation.environments import make_env
from vigym.evaluation.episodes import Policy, Progress
from vigym.evaluation.policies import Context
from vigym.files import whole_file

# file format: largest number of pictures per second
MAX_RATES = {".mp4": 50, ".gif": 25, ".webp": 25}
# a palette of the whole film; rectangles that change, in place of whole pictures
PALETTE = "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"
GIF = {"codec": "gif", "ffmpeg_params": ["-filter_complex", PALETTE]}
ENDLESS = ["-loop", "0", "-quality", "60", "-compression_level", "6"]
WEBP = {"codec": "libwebp_anim", "preset": "drawing", "ffmpeg_params": ENDLESS}
SETTINGS: dict[str, Any] = {".gif": GIF, ".webp": WEBP}


def record_video(
    env_id: str,
    controller: str | Callable[..., Any],
    path: str | Path,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Progress = lambda done: None,
    seconds: float = inf,
) -> bool:
    """Play an episode and write its video; return whether the solver converged in all steps.

    Args:
        env_id: id of the environment.
        controller: as of `vigym.evaluate`.
        path: of the video, an .mp4, a .gif or a .webp; a file that is there is replaced.
        seed: of the episode.
        options: of the environment.
        progress: called with the finished part, in [0, 1].
        seconds: upper bound of the episode's simulated time [s].

    Raises:
        ValueError: an unknown environment or controller, one that does not fit, another file
            format, `seconds` that are not > 0, or neither seconds nor a limit of steps.
        ImportError: moviepy is not installed.
    """
    if not seconds > 0.0:
        raise ValueError(f"video seconds: found {seconds!r}, expected a number > 0")
    form = Path(path).suffix.lower()
    if form not in MAX_RATES:
        raise ValueError(f"video {str(path)!r}: expected a name that ends in .mp4, .gif or .webp")
    check_controller(controller, env_id)
    _film_writer()
    env = make_env(env_id, options or {}, render_mode="rgb_array")
    try:
        policy = make_policy(controller, Context(env_id, env.unwrapped, [seed]))
        longest = _longest(env, options or {}, seconds)
        fps = env.metadata["render_fps"]
        every = max(1, round(fps / MAX_RATES[form]))
        start = env.reset(seed=seed)
        first: Any = env.render()
        converged = True
        with film(path, first, fps / every) as write:
            for steps, (_, info) in enumerate(_play(env, policy, start, seconds), start=1):
                if steps % every == 0:
                    write(env.render())
                progress(min(1.0, max(info["time"] / seconds, steps / longest)))
                converged = converged and info["solver_converged"]
    finally:
        env.close()
    return converged


def _film_writer() -> Any:
    """Return moviepy's class of writers; raise ImportError without it."""
    try:
        from moviepy.video.io.ffmpeg_writer import FFMPEG_VideoWriter
    except ImportError as error:
        raise ImportError("videos need moviepy: pip install moviepy") from error
    return FFMPEG_VideoWriter


@contextmanager
def film(path: str | Path, first: Any, rate: float) -> Iterator[Callable[[Any], None]]:
    """Yield a function that adds a picture to a film, which is there after the block.

    Args:
        path: of the film; its ending is the format.
        first: first picture (height, width, 3).
        rate: pictures per second.

    Raises:
        OSError: the film could not be written, for example on a full disk; no file is left.
        ImportError: moviepy is not installed.
    """

    def failed(said: str) -> OSError:
        found = " ".join(said.replace(str(new), str(path)).split())
        return OSError(f"video {path}: found no way to write it ({found}), expected space for it")

    def write(picture: Any) -> None:
        try:
            writer.write_frame(picture)
        except OSError as error:
            raise failed(str(error)) from error

    settings = SETTINGS.get(Path(path).suffix.lower(), {})
    with whole_file(path) as new:
        with _film_writer()(str(new), first.shape[1::-1], rate, **settings) as writer:
            write(first)
            yield write
            process = writer.proc
            with suppress(BrokenPipeError):
                process.stdin.close()
            said = process.stderr.read().decode(errors="replace")
        if process.returncode:  # moviepy does not look at it
            raise failed(said)


def _longest(env: Any, options: Mapping[str, Any], seconds: float) -> float:
    """Return the largest number of steps of an episode; raise ValueError if it may never end."""
    if seconds == inf:  # without a number gymnasium.make takes the limit of the id
        given = {} if options.get("max_episode_steps") is None else options
        check_limit(env, given, ", or seconds of the video")
    limit = env.spec.max_episode_steps if env.spec else None
    return limit or inf


class Shown(NamedTuple):
    """Episode that was shown.

    Attributes:
        seed: of the episode.
        total: return.
        steps: number of control steps.
    """

    seed: int
    total: float
    steps: int


def watch(
    env_id: str,
    controller: str | Callable[..., Any],
    render_mode: str = "browser",
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    episodes: int | None = None,
) -> Iterator[Shown]:
    """Show episodes with the seeds seed, seed + 1, ... live; yield each when it is over.

    Args:
        env_id: id of the environment.
        controller: as of `vigym.evaluate`.
        render_mode: "browser", or "human" for a window.
        seed: of the first episode.
        options: of the environment.
        episodes: number of episodes; None: no end.

    Raises:
        ValueError: an unknown environment or controller, or one that does not fit.
        RenderError: nothing can be shown, or the window was closed.
    """
    check_controller(controller, env_id)
    env = make_env(env_id, options or {}, render_mode=render_mode)
    try:
        for one in count(seed) if episodes is None else range(seed, seed + episodes):
            policy = make_policy(controller, Context(env_id, env.unwrapped, [one]))
            rewards = [reward for reward, _ in _play(env, policy, env.reset(seed=one), inf)]
            yield Shown(one, float(sum(rewards)), len(rewards))
    finally:
        env.close()


def _play(
    env: Any, policy: Policy, start: tuple[Any, Any], seconds: float
) -> Iterator[tuple[Any, Any]]:
    """Play an episode from observation and info of its reset; yield reward, info of every step."""
    observation, info = start
    done, playing = False, np.ones(1, dtype=np.bool_)
    while not done and info["time"] < seconds:
        batch = {key: np.asarray(value)[None] for key, value in info.items()}
        (action,) = policy(observation[None], batch, playing)
        observation, reward, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        yield reward, info

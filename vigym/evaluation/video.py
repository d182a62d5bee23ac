"""Videos of episodes."""

from collections.abc import Callable, Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from vigym.evaluation.controllers import make_policy
from vigym.evaluation.environments import make_env
from vigym.evaluation.episodes import Policy, Progress
from vigym.evaluation.policies import Context

MAX_RATE = 50  # largest number of pictures per second


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
        path: of the video, an .mp4.
        seed: of the episode.
        options: of the environment.
        progress: called with the finished part, in [0, 1].
        seconds: upper bound of the episode's simulated time [s].

    Raises:
        ValueError: an unknown environment or controller, one that does not fit, or `seconds` that
            are not > 0.
        ImportError: moviepy is not installed.
    """
    if not seconds > 0.0:
        raise ValueError(f"video seconds: found {seconds!r}, expected a number > 0")
    try:
        from moviepy.video.io.ffmpeg_writer import FFMPEG_VideoWriter
    except ImportError as error:
        raise ImportError("videos need moviepy: pip install moviepy") from error
    env = make_env(env_id, options or {}, render_mode="rgb_array")
    try:
        policy = make_policy(controller, Context(env_id, env.unwrapped, [seed]))
        longest = (env.spec and env.spec.max_episode_steps) or inf
        fps = env.metadata["render_fps"]
        every = max(1, round(fps / MAX_RATE))
        start = env.reset(seed=seed)
        first: Any = env.render()
        converged = True
        with FFMPEG_VideoWriter(str(path), first.shape[1::-1], fps / every) as writer:
            writer.write_frame(first)
            for steps, info in enumerate(_play(env, policy, start, seconds), start=1):
                if steps % every == 0:
                    writer.write_frame(env.render())
                progress(min(1.0, max(info["time"] / seconds, steps / longest)))
                converged = converged and info["solver_converged"]
    finally:
        env.close()
    return converged


def _play(env: Any, policy: Policy, start: tuple[Any, Any], seconds: float) -> Iterator[Any]:
    """Play an episode from observation and info of its reset; yield `info` after every step."""
    observation, info = start
    done, playing = False, np.ones(1, dtype=np.bool_)
    while not done and info["time"] < seconds:
        batch = {key: np.asarray(value)[None] for key, value in info.items()}
        (action,) = policy(observation[None], batch, playing)
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        yield info

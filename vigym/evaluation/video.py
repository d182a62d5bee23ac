"""Films of episodes."""

from collections.abc import Callable, Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from vigym.evaluation.controllers import policy_of
from vigym.evaluation.environments import make_single
from vigym.evaluation.episodes import Policy, Progress
from vigym.evaluation.policies import Role

SMOOTH = 50  # pictures per second that are enough for the eye


def film(
    env_id: str,
    controller: str | Callable[..., Any],
    path: str | Path,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Progress = lambda done: None,
    seconds: float = inf,
) -> bool:
    """Play an episode and write its film; return whether the solver could make all its steps.

    Args:
        env_id: of the environment.
        controller: as of `vigym.evaluate`.
        path: of the film, an .mp4.
        seed: of the episode.
        options: of the environment.
        progress: told the part that is done.
        seconds: of the episode at most [s].

    Raises:
        ValueError: an unknown environment or controller, or one that does not fit.
    """
    try:
        from moviepy.video.io.ffmpeg_writer import FFMPEG_VideoWriter
    except ImportError as error:
        raise ImportError("films need moviepy: pip install moviepy") from error
    env = make_single(env_id, options or {}, render_mode="rgb_array")
    try:
        solved, policy = True, policy_of(controller, Role(env_id, env.unwrapped, [seed]))
        longest = (env.spec and env.spec.max_episode_steps) or inf
        every = max(1, round(env.metadata["render_fps"] / SMOOTH))
        observation, info = env.reset(seed=seed)
        first: Any = env.render()
        size, rate = first.shape[1::-1], env.metadata["render_fps"] / every
        with FFMPEG_VideoWriter(str(path), size, rate) as writer:
            writer.write_frame(first)
            for steps, now in enumerate(_episode(env, policy, observation, info, seconds), start=1):
                if steps % every == 0:
                    writer.write_frame(env.render())
                progress(min(1.0, max(now["time"] / seconds, steps / longest)))
                solved = solved and now["solver_converged"]
    finally:
        env.close()
    return solved


def _episode(env: Any, policy: Policy, observation: Any, info: Any, seconds: float) -> Iterator[Any]:
    """Play, and yield `info` after every control step."""
    done, playing = False, np.ones(1, dtype=np.bool_)
    while not done and info["time"] < seconds:
        batch = {key: np.asarray(value)[None] for key, value in info.items()}
        (action,) = policy(observation[None], batch, playing)
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        yield info

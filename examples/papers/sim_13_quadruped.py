"""SIM Fig. 13: a quadruped of the Unitree A1's sizes learns to walk by random search.

Sine targets of 6 parameters, 1 ms, 10 s; around the best parameters so far new ones are drawn. The
paper's robot walks more than 12 m within 100 episodes; here the same search with several seeds.
"""

from __future__ import annotations

import _figure as fig
import gymnasium
import numpy as np
from matplotlib.axes import Axes

from vigym.control.quadruped_gaits import SineGait
from vigym.training.search import Candidate, Search, search_parameters

NAME = "vigym/Quadruped-v0"
SEEDS = {fig.QUICK: 1, fig.PAGE: 5, fig.FULL: 10}
EPISODES = {fig.QUICK: 12, fig.PAGE: 100, fig.FULL: 100}
GOAL = 12.0  # way in 10 s [m]


def best_so_far(candidates: list[Candidate]) -> list[float]:
    """Return the way of the best candidate after each episode [m]."""
    best, ways = candidates[0], []
    for one in candidates:
        best = max(best, one, key=lambda each: each.merit)
        ways.append(best.score)
    return ways


def draw_robot(panel: Axes, parameters: dict[str, float], seconds: float = 1.0) -> None:
    """Draw the robot after a second of its best walk."""
    env = gymnasium.make(NAME, render_mode="rgb_array", width=640, height=480)
    observation, info = env.reset(seed=0)
    controller = SineGait(**parameters)
    while info["time"] < seconds:
        observation, _, _, _, info = env.step(controller(observation, info))
    panel.imshow(np.asarray(env.render()))
    panel.axis("off")
    env.close()


def main(out: str = "sim_13_quadruped.png", size: str = fig.PAGE) -> list[list[float]]:
    """Draw robot and progress; print and return the ways [m] of every seed, episode by episode."""
    figure, (robot, progress) = fig.panels(1, 2, ["a  the best walk", "b  learning to walk"])
    found, rows = [], []
    winner: Candidate | None = None
    for seed in range(SEEDS[size]):
        search = Search(
            env_id=NAME,
            controller="sine_gait",
            measure="distance",
            episodes=EPISODES[size],
            seed=seed,
        )
        candidates = search_parameters(search)
        ways = best_so_far(candidates)
        best = max(candidates, key=lambda each: each.merit)
        winner = best if winner is None else max(winner, best, key=lambda each: each.merit)
        progress.step(range(1, len(ways) + 1), ways, color=fig.OURS, alpha=0.6)
        reached = next((str(k) for k, way in enumerate(ways, start=1) if way > GOAL), "not")
        unsolved = sum(one.episode.unconverged_steps for one in candidates)
        found.append(ways)
        rows.append([str(seed), ways[0], ways[-1], reached, f"{unsolved}"])
    assert winner is not None
    draw_robot(robot, winner.parameters)
    progress.axhline(GOAL, color="grey", linewidth=0.8)
    progress.set(xlabel="episode", ylabel="way of the best so far in 10 s [m]", ylim=(0.0, None))
    fig.save(figure, out)
    head = ["seed", "first way [m]", "last way [m]", "12 m after episodes", "steps unsolved"]
    fig.report("SIM Fig. 13; in the paper more than 12 m within 100 episodes", head, rows)
    return found


if __name__ == "__main__":
    fig.command(main)

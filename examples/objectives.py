"""Vector of rewards: trots of several frequencies in one vector environment.

python examples/objectives.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.minitaur_gaits import trot
from vigym.wrappers import PhysicsVectorReward

FREQUENCIES = (1.0, 2.0, 3.0, 4.0, 5.0)  # steps of a foot per second [Hz]
OBJECTIVES = ("forward", "mechanical_power", "cost_of_transport")  # a term of the reward, two costs


def main(steps: int = 500) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Print and return the mean rewards of every gait (5, 3), marking the Pareto-optimal ones."""
    plain = gym.make_vec("vigym/Minitaur-v0", num_envs=len(FREQUENCIES))
    envs = PhysicsVectorReward(plain, OBJECTIVES)
    gaits = [trot(frequency=frequency) for frequency in FREQUENCIES]
    _, infos = envs.reset(seed=0)
    total = np.zeros((len(FREQUENCIES), len(OBJECTIVES)))
    for _ in range(steps):
        times = zip(gaits, infos["time"], strict=True)
        actions = [gait(np.zeros(0), {"time": time}) for gait, time in times]
        _, rewards, terminated, _, infos = envs.step(np.array(actions))
        assert not terminated.any()
        total += rewards
    envs.close()

    means = total / steps
    print(f"frequency [Hz] {''.join(f'{name:>20}' for name in OBJECTIVES)}")
    for frequency, row in zip(FREQUENCIES, means, strict=True):
        dominated = ((means >= row).all(axis=1) & (means > row).any(axis=1)).any()
        values = "".join(f"{value:20.4f}" for value in row)
        print(f"{frequency:14.1f} {values}{'' if dominated else '   Pareto-optimal'}")
    return means


if __name__ == "__main__":
    main()

"""Every example runs, is short, and shows what it says."""

from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

# example: the library that it needs beside those of the tests
NEEDS = {
    "train_rllib": "ray.rllib",
    "train_rsl_rl": "rsl_rl",
    "train_skrl": "skrl",
    "train_torchrl": "torchrl",
    "tune_gait": "ray.tune",
}
LINES = 70
# example: why it is longer
LONG = {"train_cleanrl": "the learner itself is in it", "train_skrl": "so are skrl's models"}

FOLDER = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(FOLDER.glob("*.py"))


def load(name):
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_random_rollout(module):
    info = module.main()
    assert abs(info["energy_balance"]) < 1e-2
    assert info["constraint_residual_max"] <= 1e-10


def check_energy_without_drift(module):
    rows = module.main(duration=100.0)
    amplitudes = [amplitude for _, amplitude, _ in rows]
    assert amplitudes[0] / amplitudes[1] == pytest.approx(4.0, rel=0.1)
    assert amplitudes[1] / amplitudes[2] == pytest.approx(4.0, rel=0.05)


def check_exoskeleton_gains(module):
    felt = module.main(candidates=24)
    torques = {key: each["elbow_torque"] for key, each in felt.items()}
    comfortable = {key for key, torque in torques.items() if torque <= 5.0}
    assert set(torques) - comfortable == {("original", "spastic")}
    assert max(each["elbow_error"] for each in felt.values()) < 0.6


def check_quadruped_learns(module):
    (way,) = module.main(seeds=1, episodes=24)
    assert way > 7.0


def check_import_urdf(module):
    info = module.main()
    assert info["reward_task"] == pytest.approx(
        -float(info["joint_velocities"] @ info["joint_velocities"])
    )


def check_own_task(module):
    assert abs(module.main()["position"]) < 1e-3


def check_four_bar_speed(module):
    result = module.main()
    assert result["passes"] == 6
    assert result["speed_error_mean"] < 0.3
    assert abs(result["energy_balance"]) < 0.02 * result["energy_change"]
    assert result["gap"] <= 1e-10


def check_minitaur_leg_hop(module):
    result = module.main()
    assert result["hops"] > 10
    assert 0.43 < result["lowest_top"] <= result["highest_top"] < 0.47
    assert 10.0 < result["power"] < 25.0
    assert result["gap"] <= 1e-10
    assert result["penetration"] <= 1e-6


def check_robust_balance(module):
    fallen = module.main(steps=200)
    built, varied, struck, late, later = fallen.values()
    assert built == struck == 0
    assert varied < 8
    assert 0 < late < later == 64


def check_minitaur_trot(module):
    result = module.main()
    assert result["speed"] >= 0.30
    assert result["power"] == pytest.approx(19.9, rel=0.5)
    assert result["gap"] <= 1e-8
    assert result["penetration"] <= 1e-6
    assert result["upright"] > 0.97


def check_leg_balance(module):
    result = module.main()
    assert result["balanced"] < 1e-5
    assert result["alone"] > 1.0
    assert result["gap"] <= 1e-10


def check_double_pendulum_balance(module):
    result = module.main()
    assert result["fallen"] == 0
    assert result["worst"] > 990.0


def check_swing_up(module):
    result = module.main()
    assert result["standing"] == 100
    assert result["pendulum_worst"] > 235.0
    assert result["up"] == 100


def check_acrobot_stand(module):
    result = module.main()
    assert result["replayed"] == result["batch"] < 25.0
    assert result["deviation"] < 1e-3


def check_pd_holding(module):
    result = module.main()
    assert abs(result["sag"]) > 0.1
    assert abs(result["error"]) < 1e-6


def check_snake_gait(module):
    isotropic, weak, strong, stronger = (row["speed"] for row in module.main())
    assert isotropic < 0.02
    assert isotropic < weak < strong < stronger
    assert strong > 5.0 * isotropic


def check_runge_kutta(module):
    steps = module.FOUR_BAR.run(0.0025), module.FOUR_BAR.run(0.005, every=2)
    (coarse, wide), (fine, narrow) = (
        np.abs(np.array(list(islice(run, 800)))).T for run in steps[::-1]
    )
    order = np.log2(np.ptp(coarse) / np.ptp(fine)), np.log2(wide[-1] / narrow[-1])
    assert min(order) > 3.0  # of energy and gap: of fourth order, and yet they drift
    print("orders of energy and gap", order)


def check_mujoco_rods(module):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    loss, gap = module.main(seconds=10.0)
    assert loss < -0.1
    assert 1e-5 < gap < 1e-2


def check_energy_story(module):
    largest = module.main("energy_story.png", seconds=20.0)
    for system in ("double pendulum", "four-bar"):
        energy, gap = largest[system, "vigym"]
        assert energy < 0.05
        assert gap <= 1e-10
        assert largest[system, "Runge-Kutta 4"][1] > 1e6 * gap
    assert Path("energy_story.png").stat().st_size > 50_000


def check_import_loops(module):
    result = module.main()
    assert result["gap"] <= 1e-10
    assert abs(result["work"]) > 0.3  # it was pushed, and braked
    assert abs(result["energy_balance"]) < 0.2


def check_objectives(module):
    forward, power, _ = module.main(steps=300).T
    assert (np.diff(forward) > 0.0).all()  # quicker steps, more speed
    assert (power < -5.0).all()


def check_train_and_film(module):
    returns = module.main("film.mp4", timesteps=20_480)
    assert returns["trained"] > 3.0 * returns["doing nothing"]
    assert Path("film.mp4").stat().st_size > 10_000


def check_snake_skates(module):
    speeds = module.main()
    assert speeds["skating"] == pytest.approx(speeds["closed form"], rel=0.03)
    assert speeds["lateral_undulation"] < 0.5 * speeds["skating"]


def check_snake_gaits_on_ground(module):
    rows = module.main()
    assert rows["sidewinding"]["left"] > 0.1
    assert rows["rolling"]["left"] == pytest.approx(
        0.5 * np.pi * 0.051, rel=0.1
    )  # half a circumference a second
    assert rows["linear progression"]["ahead"] > 0.03
    assert rows["linear progression"]["upright"] > 0.9
    assert rows["rolling"]["power"] < rows["sidewinding"]["power"]


def check_train_cleanrl(module):
    """Random actions return 5, an agent that stands still upright 270."""
    assert module.main(iterations=10) > 30.0


check_train_rllib = check_train_cleanrl
check_train_rsl_rl = check_train_cleanrl
check_train_skrl = check_train_cleanrl
check_train_torchrl = check_train_cleanrl


def check_tune_gait(module):
    best, speed = module.main(gaits=3)
    assert set(best) == set(module.DEFAULT)
    assert speed > 0.3  # the gait that is tried first has 0.34 m/s


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_example(file, capsys, tmp_path, monkeypatch):
    if file.stem in NEEDS:
        pytest.importorskip(NEEDS[file.stem])
    monkeypatch.syspath_prepend(str(FOLDER))  # as where a script lies
    monkeypatch.chdir(tmp_path)
    assert len(file.read_text().splitlines()) <= LINES or file.stem in LONG
    globals()[f"check_{file.stem}"](load(file.stem))  # an example without a check fails here
    assert capsys.readouterr().out


def test_random_rollout_of_another_environment():
    assert load("random_rollout").main("vigym/Acrobot-v0", seed=1)["solver_converged"]

"""Search with Ray Tune for a quick trot of the Minitaur, on all cores, or on a cluster.

pip install "ray[tune]"
python examples/tune_gait.py 40         # gaits
"""

import sys

import ray
from ray import tune
from ray.tune.search.basic_variant import BasicVariantGenerator

import vigym

NAME = "vigym/Minitaur-v0"
SPACE = {
    "frequency": tune.uniform(1.0, 4.0),  # steps of a foot per second [Hz]
    "lift": tune.uniform(0.1, 0.5),  # amplitude of the extension [rad]
    "swing": tune.uniform(0.1, 0.6),  # amplitude of the swing [rad]
}
DEFAULT = {"frequency": 2.0, "lift": 0.25, "swing": 0.3}  # is tried first


def speed_of(parameters: dict[str, float]) -> dict[str, float]:
    """Return the mean speed [m/s] over four episodes of a gait; one that falls has none."""
    name = ",".join(["trot", *(f"{key}={value}" for key, value in parameters.items())])
    scored = vigym.evaluate(NAME, name, episodes=4, options={"max_episode_steps": 500})
    fallen = scored.column("failed").any()
    return {"speed": 0.0 if fallen else float(scored.column("speed").mean())}


def main(gaits: int = 40) -> tuple[dict[str, float], float]:
    """Search, print and return the parameters of the best gait, and its speed."""
    vigym.evaluate(NAME, "trot", episodes=4, options={"max_episode_steps": 1})  # compiles kernels
    ray.init(log_to_driver=False)
    search = BasicVariantGenerator(points_to_evaluate=[DEFAULT], random_state=0)
    settings = tune.TuneConfig(metric="speed", mode="max", num_samples=gaits, search_alg=search)
    tuner = tune.Tuner(
        speed_of,
        param_space=SPACE,
        tune_config=settings,
        run_config=tune.RunConfig(verbose=0),
    )
    found = tuner.fit().get_best_result()
    ray.shutdown()
    best, speed = dict(found.config or {}), float((found.metrics or {})["speed"])
    text = ", ".join(f"{key} {value:.2f}" for key, value in best.items())
    print(f"{speed:.3f} m/s with {text}; {speed_of(DEFAULT)['speed']:.3f} m/s by default")
    return best, speed


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

"""Policies that come with the package: one for each environment that has been trained."""

from pathlib import Path

from vigym.policies.network import ENDING, Network, read_network

FOLDER = Path(__file__).resolve().parent / "weights"
PREFIX = "vigym/"  # of the ids of the environments


def shipped_ids() -> list[str]:
    """Return the ids of the environments with a policy, sorted."""
    return sorted(f"{PREFIX}{file.stem}" for file in FOLDER.glob(f"*{ENDING}"))


def load_policy(policy: str | Path) -> Network:
    """Return a trained policy, a controller: `policy(observation, info)`.

    Nothing in its files is run. It needs neither torch nor stable-baselines3.

    Args:
        policy: id of an environment, for the policy that comes with the package; or a file
            NAME.safetensors of `vigym export`, with NAME.json beside it.

    Raises:
        ValueError: an environment without a policy, or a file that is missing or damaged.
    """
    if str(policy).endswith(ENDING):
        return read_network(Path(policy))
    if policy not in shipped_ids():
        expected = f"a file {ENDING}, or one of: {', '.join(shipped_ids())}"
        raise ValueError(f"trained policy: found none of {str(policy)!r}, expected {expected}")
    return read_network(FOLDER / f"{str(policy).removeprefix(PREFIX)}{ENDING}")

"""Controllers: callables `observation, info -> action` with named parameters.

Its modules are imported on first use: `vigym.control.lqr.lqr`, `vigym.control.minitaur_gaits.trot`.
"""

from importlib import import_module
from types import ModuleType

__all__ = [
    "actuators",
    "energy_swing_up",
    "hop",
    "lqr",
    "minitaur_gaits",
    "minitaur_legs",
    "pd",
    "quadruped_gaits",
    "serpenoid",
    "skating",
    "static_torques",
    "tracking",
]


def __getattr__(name: str) -> ModuleType:
    """Import a module on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'vigym.control' has no attribute {name!r}")
    return import_module(f"vigym.control.{name}")


def __dir__() -> list[str]:
    return __all__

"""Gymnasium environments on a linear-time variational integrator in maximal coordinates.

`import vigym` registers the environments and stays light: the names below import what they need on
first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vigym.envs.registry import register_all

if TYPE_CHECKING:
    from vigym import assets, baselines, control, wrappers
    from vigym.evaluation.evaluate import evaluate
    from vigym.mechanism.elements.bodies import Ground
    from vigym.mechanism.elements.errors import AssemblyError, MechanismError, UrdfError
    from vigym.mechanism.elements.ground.terrain import Terrain
    from vigym.mechanism.elements.motors import MINITAUR_MOTOR, DCMotor
    from vigym.mechanism.mechanism import Mechanism
    from vigym.mjcf.load import load_mjcf
    from vigym.policies.shipped import load_policy
    from vigym.robot_files import load
    from vigym.sdf.load import load_sdf
    from vigym.simulation.simulator import Simulator
    from vigym.urdf.convert.load import load_urdf

__version__ = "0.1.0"

__all__ = [
    "MINITAUR_MOTOR",
    "AssemblyError",
    "DCMotor",
    "Ground",
    "Mechanism",
    "MechanismError",
    "Simulator",
    "Terrain",
    "UrdfError",
    "__version__",
    "assets",
    "baselines",
    "control",
    "evaluate",
    "load",
    "load_mjcf",
    "load_policy",
    "load_sdf",
    "load_urdf",
    "wrappers",
]

_HOME = {
    "DCMotor": "vigym.mechanism.elements.motors",
    "Ground": "vigym.mechanism.elements.bodies",
    "MINITAUR_MOTOR": "vigym.mechanism.elements.motors",
    "Mechanism": "vigym.mechanism.mechanism",
    "Simulator": "vigym.simulation.simulator",
    "Terrain": "vigym.mechanism.elements.ground.terrain",
    "evaluate": "vigym.evaluation.evaluate",
    "load": "vigym.robot_files",
    "load_mjcf": "vigym.mjcf.load",
    "load_policy": "vigym.policies.shipped",
    "load_sdf": "vigym.sdf.load",
    "load_urdf": "vigym.urdf.convert.load",
    "AssemblyError": "vigym.mechanism.elements.errors",
    "MechanismError": "vigym.mechanism.elements.errors",
    "UrdfError": "vigym.mechanism.elements.errors",
}
_MODULES = ("assets", "baselines", "control", "wrappers")


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in _MODULES:
        return import_module(f"vigym.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'vigym' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


register_all()

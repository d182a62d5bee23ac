"""Controllers by name, "module:name" or model file, made to play episodes side by side.

A controller is a callable `observation, info -> action`. One with an attribute `batched = True` works on arrays over
leading dimensions and is called once for all episodes; any other is called for each episode by itself. A class, or a
function without required parameters (or with one, the environment), makes controllers: a fresh one for each episode,
or one for all of a batch, so that they may have state. Named parameters follow the name: "trot,frequency=2.5".
"""

import inspect
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vigym.evaluation.episodes import Policy
from vigym.evaluation.models import load_model
from vigym.evaluation.modules import module_from_here
from vigym.evaluation.named import NAMED
from vigym.evaluation.nearest import nearest
from vigym.evaluation.role import Controller, Each, Role, Together


def policy_of(controller: str | Controller, role: Role) -> Policy:
    """Return what plays the episodes of a role.

    Args:
        controller: a name of `vigym.evaluation.named`, "module:name" (the working directory counts), the path of a
            model.zip of stable-baselines3, or a callable.
        role: what it is made for.

    Raises:
        ValueError: a controller that is not there, does not fit, or takes other parameters.
        ImportError: a model of stable-baselines3, which is not installed.
    """
    name = name_of(controller)
    if not isinstance(controller, str):
        return _policy(controller, {}, name, role)
    base, parameters = _parsed(controller)
    if base.endswith(".zip"):
        return Together(load_model(Path(base), role.env), role, name)
    if ":" in base:
        return _policy(_imported(base), parameters, name, role)
    return Together(_made(_named(base, role.id), (role,), parameters, name), role, name)


def name_of(controller: str | Controller) -> str:
    """Return the name of a controller as tables show it."""
    if isinstance(controller, str):
        return controller
    return getattr(controller, "__name__", type(controller).__name__)


def fitting(env_id: str) -> list[str]:
    """Return the names of the controllers that drive an environment."""
    return [entry.name for entry in NAMED.values() if not entry.ids or env_id in entry.ids]


def value_of(text: str) -> Any:
    """Return the Python value that a text writes, or the text itself."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _named(name: str, env_id: str) -> Callable[..., Controller]:
    """Return what makes the controller of a name."""
    if name not in NAMED:
        other = "; or give module:name or a model.zip"
        raise ValueError(f"controller: found {name!r}, {nearest(name, fitting(env_id))}{other}")
    entry = NAMED[name]
    if env_id not in (entry.ids or (env_id,)):
        there = f"for {env_id} there are: {', '.join(fitting(env_id))}"
        raise ValueError(f"controller {name!r}: found {env_id}, expected {' or '.join(entry.ids)}; {there}")
    return entry.make


def _policy(found: Any, parameters: dict[str, Any], name: str, role: Role) -> Policy:
    """Return the policy of an object: a controller itself, or what makes controllers."""
    if not callable(found):
        raise ValueError(f"controller {name!r}: found {type(found).__name__}, expected a callable")
    needed = _required(found)
    if len(needed) == 2 and not inspect.isclass(found):
        if parameters:
            raise ValueError(f"controller {name!r}: found parameters, expected none: it makes no controller, it is one")
        controllers: list[Controller] = [found] * len(role.seeds)
    elif len(needed) <= 1:
        arguments = (role.env,) if needed else ()
        controllers = [_made(found, arguments, parameters, name) for _ in role.seeds]
    else:
        raise ValueError(
            f"controller {name!r}: found parameters {', '.join(needed)}, expected observation, info; or a class or "
            "function that makes a controller, of the environment or of nothing"
        )
    if getattr(controllers[0], "batched", False):
        return Together(controllers[0], role, name)
    return Each(controllers, role, name)


def _made(make: Callable[..., Any], arguments: tuple[Any, ...], parameters: dict[str, Any], name: str) -> Controller:
    try:
        controller: Controller = make(*arguments, **parameters)
    except TypeError as error:
        raise ValueError(f"controller {name!r}: {error}") from error
    if not callable(controller):
        raise ValueError(f"controller {name!r}: made {type(controller).__name__}, expected a callable")
    return controller


def _required(found: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters without default."""
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(found).parameters.values()
    return [one.name for one in parameters if one.kind in plain and one.default is one.empty]


def _imported(base: str) -> Any:
    module, _, attribute = base.partition(":")
    try:
        found = module_from_here(module)
    except ImportError as error:
        raise ValueError(f"controller {base!r}: {error}; expected a module that can be imported from here") from error
    if not hasattr(found, attribute):
        names = [name for name in vars(found) if not name.startswith("_") and callable(getattr(found, name))]
        raise ValueError(f"controller {base!r}: {module} has no {attribute!r}, {nearest(attribute, names)}")
    return getattr(found, attribute)


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of "name,parameter=value,..."."""
    base, *settings = text.split(",")
    parameters = {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals or not parameter.isidentifier():
            raise ValueError(f"controller {text!r}: found {setting!r}, expected parameter=value")
        parameters[parameter] = value_of(value)
    return base, parameters

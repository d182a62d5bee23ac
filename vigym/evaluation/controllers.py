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

from vigym.evaluation.builtin import NAMED, Named
from vigym.evaluation.episodes import Policy
from vigym.evaluation.names import module_from_here, nearest
from vigym.evaluation.policies import EXPECTED, Controller, Each, Role, Together, free, load_model, misses, needed


def policy_of(controller: str | Controller, role: Role) -> Policy:
    """Return what plays the episodes of a role.

    Args:
        controller: a name of `vigym.evaluation.builtin`, "module:name" (the working directory counts), the path of a
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
    entry = _named(base, role.id)
    _check_parameters(entry.parameters, parameters, name)
    return Together(_made(entry.make, (role,), parameters, name), role, name)


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


def _named(name: str, env_id: str) -> Named:
    """Return the controller of a name."""
    if name not in NAMED:
        other = "; or give module:name or a model.zip"
        raise ValueError(f"controller: found {name!r}, {nearest(name, fitting(env_id))}{other}")
    entry = NAMED[name]
    if env_id not in (entry.ids or (env_id,)):
        there = f"for {env_id} there are: {', '.join(fitting(env_id))}"
        raise ValueError(f"controller {name!r}: found {env_id}, expected {' or '.join(entry.ids)}; {there}")
    return entry


def _policy(found: Any, parameters: dict[str, Any], name: str, role: Role) -> Policy:
    """Return the policy of an object: a controller itself, or what makes controllers."""
    if not callable(found):
        raise ValueError(f"controller {name!r}: found {type(found).__name__}, expected {EXPECTED}")
    try:
        arguments = needed(found)
    except ValueError as error:
        raise ValueError(f"controller {name!r}: {error}; expected {EXPECTED}") from error
    if len(arguments) == 2 and not inspect.isclass(found):
        if parameters:
            raise ValueError(f"controller {name!r}: found parameters, expected none: it makes no controller, it is one")
        controllers: list[Controller] = [found] * len(role.seeds)
    elif len(arguments) <= 1:
        _check_parameters(free(found), parameters, name)
        controllers = [_made(found, (role.env,) if arguments else (), parameters, name) for _ in role.seeds]
    else:
        raise ValueError(f"controller {name!r}: found parameters {', '.join(arguments)}, expected {EXPECTED}")
    if getattr(controllers[0], "batched", False):
        return Together(controllers[0], role, name)
    return Each(controllers, role, name)


def _made(make: Callable[..., Any], arguments: tuple[Any, ...], parameters: dict[str, Any], name: str) -> Controller:
    try:
        controller: Controller = make(*arguments, **parameters)
    except TypeError as error:
        expected = f"; expected {EXPECTED}" if misses(error) else ""
        raise ValueError(f"controller {name!r}: {error}{expected}") from error
    if not callable(controller):
        raise ValueError(f"controller {name!r}: made {type(controller).__name__}, expected a callable")
    return controller


def _check_parameters(names: list[str] | None, given: dict[str, Any], name: str) -> None:
    """Raise ValueError for a parameter that is not one of `names`."""
    for parameter in given:
        if names is not None and parameter not in names:
            mend = nearest(parameter, names) if names else "expected none"
            raise ValueError(f"controller {name!r}: found parameter {parameter!r}, {mend}")


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

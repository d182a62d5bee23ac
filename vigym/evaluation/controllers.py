"""Controllers by name, "module:name" or model file, made to play episodes side by side.

A controller is a callable `observation, info -> action`. With an attribute `batched = True` it is
called once for all episodes with arrays over leading dimensions, without it for each episode. A
class, or a function without required parameters (or with one, the environment), makes controllers,
a new one for each episode, so that they may have state. Named parameters follow the name:
"trot,frequency=2.5".
"""

import inspect
import os
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium

from vigym.envs.options import import_user_module, suggest
from vigym.evaluation.builtin import BUILTIN, BuiltinController
from vigym.evaluation.environments import check_env_id
from vigym.evaluation.episodes import Policy
from vigym.evaluation.policies import (
    EXPECTED,
    BatchedPolicy,
    Context,
    Controller,
    PerEpisodePolicy,
    check_file,
    load_model,
    load_trained,
    raised_by_call,
    required_arguments,
    settable_parameters,
)
from vigym.evaluation.rllib import load_checkpoint
from vigym.policies.network import ENDING

BEST_MODEL = Path("best") / "model.zip"  # in the folder of a run of `vigym train`
_FILES = (ENDING, ".zip")  # endings of files of policies


def make_policy(controller: str | Controller, context: Context) -> Policy:
    """Return the policy that plays episodes with a controller.

    Args:
        controller: name in `vigym.evaluation.builtin`, "module:name" (the working directory is
            searched), path of a .safetensors of `vigym export` or of a model.zip of
            stable-baselines3, folder of a run of `vigym train` (its best model) or of RLlib (its
            newest checkpoint), checkpoint of RLlib, or callable. Models, runs and checkpoints can
            run code: name only files that you trust.
        context: environment and seeds of the episodes.

    Raises:
        ValueError: an unknown controller, one that does not fit, or unknown parameters.
        ImportError: a model of stable-baselines3, which is not installed.
    """
    name = name_of(controller)
    if not isinstance(controller, str):
        return _policy(controller, {}, name, context)
    base, parameters = _parse(controller)
    if _is_saved(base):
        _check_parameters([], parameters, name)
        return BatchedPolicy(_load(base, context.env), context, name)
    if ":" in base:
        return _policy(_import(base), parameters, name, context)
    entry = _builtin(base, context.id)
    _check_parameters(entry.parameters, parameters, name)
    return BatchedPolicy(_make(entry.make, (context,), parameters, name), context, name)


def check_controller(controller: str | Controller, env_id: str) -> None:
    """Check the name of a controller as far as possible without its environment.

    Args:
        controller: as of `make_policy`.
        env_id: id of the environment.

    Raises:
        ValueError: an unknown id, a name that stands for nothing or for a controller of other
            environments, or unknown parameters of a built-in controller or a saved policy.
    """
    check_env_id(env_id)
    if not isinstance(controller, str):
        return
    base, parameters = _parse(controller)
    if _is_saved(base):
        _check_parameters([], parameters, controller)
        if base.endswith(_FILES):
            check_file(base)
    elif ":" in base:
        _import(base)
    else:
        _check_parameters(_builtin(base, env_id).parameters, parameters, controller)


def name_of(controller: str | Controller) -> str:
    """Return the name of a controller in tables."""
    if isinstance(controller, str):
        return controller
    return getattr(controller, "__name__", type(controller).__name__)


def controllers_for(env_id: str) -> list[str]:
    """Return the names of the built-in controllers of an environment."""
    return [entry.name for entry in BUILTIN.values() if not entry.ids or env_id in entry.ids]


def parse_value(text: str) -> Any:
    """Return the Python literal in a text, or the text itself."""
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _is_saved(base: str) -> bool:
    """Return whether a name is the path of a saved policy: a file, or the folder of a run."""
    return base.endswith(_FILES) or (base not in BUILTIN and os.path.isdir(base))


def _load(base: str, env: gymnasium.Env[Any, Any]) -> Controller:
    """Return the policy of a file or a folder."""
    if base.endswith(ENDING):
        return load_trained(base, env)
    if base.endswith(".zip"):
        return load_model(Path(base), env)
    best = Path(base) / BEST_MODEL
    return load_model(best, env, base) if best.exists() else load_checkpoint(Path(base), env)


def _builtin(name: str, env_id: str) -> BuiltinController:
    if name not in BUILTIN:
        hint = f"{suggest(name, controllers_for(env_id))} (or give module:name, or a file)"
        raise ValueError(f"controller: found {name!r}, {hint}")
    entry = BUILTIN[name]
    if env_id not in (entry.ids or (env_id,)):
        expected = f"{' or '.join(entry.ids)}"
        others = f"for {env_id} there are: {', '.join(controllers_for(env_id))}"
        raise ValueError(f"controller {name!r} works with {expected}, not with {env_id}; {others}")
    return entry


def _policy(found: Any, parameters: dict[str, Any], name: str, context: Context) -> Policy:
    """Return the policy of an object: a controller itself, or a maker of controllers."""
    element = f"controller {name!r}"
    if not callable(found):
        raise ValueError(f"{element}: found {type(found).__name__}, expected {EXPECTED}")
    try:
        arguments = required_arguments(found)
    except ValueError as error:
        raise ValueError(f"{element}: {error}; expected {EXPECTED}") from error
    if len(arguments) == 2 and not inspect.isclass(found):
        if parameters:
            reason = "it makes no controller, it is one"
            raise ValueError(f"{element}: found parameters, expected none: {reason}")
        controllers: list[Controller] = [found] * len(context.seeds)
    elif len(arguments) <= 1:
        _check_parameters(settable_parameters(found), parameters, name)
        given = (context.env,) if arguments else ()
        controllers = [_make(found, given, parameters, name) for _ in context.seeds]
    else:
        names = ", ".join(arguments)
        raise ValueError(f"{element}: found parameters {names}, expected {EXPECTED}")
    if getattr(controllers[0], "batched", False):
        return BatchedPolicy(controllers[0], context, name)
    return PerEpisodePolicy(controllers, context, name)


def _make(
    make: Callable[..., Any], arguments: tuple[Any, ...], parameters: dict[str, Any], name: str
) -> Controller:
    try:
        controller: Controller = make(*arguments, **parameters)
    except TypeError as error:
        expected = f"; expected {EXPECTED}" if raised_by_call(error) else ""
        raise ValueError(f"controller {name!r}: {error}{expected}") from error
    if not callable(controller):
        raise ValueError(
            f"controller {name!r}: made {type(controller).__name__}, expected a callable"
        )
    return controller


def _check_parameters(names: list[str] | None, given: dict[str, Any], name: str) -> None:
    """Raise ValueError for a parameter that is not one of `names`."""
    for parameter in given:
        if names is not None and parameter not in names:
            hint = suggest(parameter, names) if names else "expected none"
            raise ValueError(f"controller {name!r}: found parameter {parameter!r}, {hint}")


def _import(base: str) -> Any:
    """Return the object "module:name"."""
    module, _, attribute = base.partition(":")
    try:
        found = import_user_module(module)
    except ImportError as error:
        expected = "expected a module that can be imported from here, as module:name, no path"
        raise ValueError(f"controller {base!r}: {error}; {expected}") from error
    if not hasattr(found, attribute):
        public = [name for name in vars(found) if not name.startswith("_")]
        hint = suggest(attribute, [name for name in public if callable(getattr(found, name))])
        raise ValueError(f"controller {base!r}: {module} has no {attribute!r}, {hint}")
    return getattr(found, attribute)


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of "name,parameter=value,..."."""
    base, *settings = text.split(",")
    parameters: dict[str, Any] = {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals or not parameter.isidentifier():
            raise ValueError(f"controller {text!r}: found {setting!r}, expected parameter=value")
        if parameter in parameters:
            raise ValueError(f"controller {text!r}: found {parameter!r} twice, expected it once")
        parameters[parameter] = parse_value(value)
    return base, parameters

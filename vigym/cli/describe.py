"""Command `vigym describe`: page of an environment, from its docstring and an instance."""

from inspect import Parameter, cleandoc, signature
from typing import Any

import click
import gymnasium
from rich.markdown import Markdown

from vigym.cli.evaluate import environment_argument, find_environment, option_option
from vigym.cli.output import (
    console,
    json_option,
    on_terminal,
    overwrite_option,
    write_json,
    writes_to_standard,
)
from vigym.envs.env import TaskEnv, option_defaults, task_class
from vigym.envs.tasks.robot import Robot
from vigym.evaluation.builtin import BUILTIN
from vigym.evaluation.controllers import controllers_for
from vigym.evaluation.environments import make_env, spec_of

UNNAMED = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


@click.command()
@environment_argument
@option_option
@json_option
@overwrite_option
def command(environment: str, options: dict[str, Any], json_file: str | None) -> None:
    """Show the page of the environment ID: actions, observations, rewards, starts and options.

    Of the robot in a FILE it names the joint of every action.

    \b
    vigym describe vigym/Pendulum-v0
    vigym describe robot.urdf -o control=torque
    vigym describe mine:me/Positioner-v0
    vigym describe vigym/Snake-v0 --json - | jq .options
    """  # noqa: D301
    quiet = writes_to_standard(json_file)
    env_id, options = find_environment(environment, options)
    known, text = _describe(env_id, options)
    write_json(json_file, known)
    if quiet:
        return
    page = _page(known, text)
    if on_terminal():
        console().print(Markdown(page))
    else:
        print(page)


def _one_line(space: gymnasium.Space[Any]) -> str:
    """Return the text of a space without line breaks."""
    return " ".join(str(space).split())


def _describe(env_id: str, options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the known properties of an environment, and its docstring."""
    spec = spec_of(env_id)
    task = spec.kwargs.get("task")
    env = _instance(env_id, options, task is not None)
    source: Any = type(env) if task is None else task_class(task)
    defaults = _defaults(source) if task is None else option_defaults(source)
    defaults |= {name: value for name, value in spec.kwargs.items() if name in defaults}
    names = [name for name in controllers_for(spec.id) if BUILTIN[name].ids]
    known = {
        "id": spec.id,
        "steps": spec.max_episode_steps,
        "solved": spec.reward_threshold,
        "controllers": names,
        "actions": None if env is None else _one_line(env.action_space),
        "observations": None if env is None else _one_line(env.observation_space),
        "action_names": _action_names(env),
        "observation_names": env.observation_names if isinstance(env, TaskEnv) else None,
        "rewards": sorted(env.task.weights) if isinstance(env, TaskEnv) else None,
        "options": {name: _json(value) for name, value in defaults.items()},
    }
    if env is not None:
        env.close()
    return known, cleandoc(source.__doc__ or "")


def _action_names(env: Any) -> list[str] | None:
    """Return the joint of every action if each action belongs to one joint; else None."""
    if not (isinstance(env, TaskEnv) and isinstance(env.task, Robot)):
        return None
    return env.mechanism.motor_names or env.mechanism.actuator_names


def _defaults(source: Any) -> dict[str, Any]:
    parameters = signature(source).parameters.items()
    return {name: one.default for name, one in parameters if one.kind not in UNNAMED}


def _json(value: Any) -> Any:
    """Return a default as JSON has it, as text where JSON has no such value; None: no default."""
    if value is Parameter.empty:
        return None
    return value if isinstance(value, str | int | float | tuple | None) else repr(value)


def _instance(env_id: str, options: dict[str, Any], ours: bool) -> Any:
    """Return the environment without wrappers; None where it needs options that are not given.

    Raises:
        ValueError: an environment that cannot be made.
    """
    try:
        if ours:
            return make_env(env_id, options).unwrapped
        return gymnasium.make(env_id, **options).unwrapped
    except (TypeError, gymnasium.error.Error) as error:
        raise ValueError(f"environment {env_id!r}: {error}") from error
    except ValueError as error:
        if not options and "expected the option" in str(error):
            return None
        raise


def _page(known: dict[str, Any], text: str) -> str:
    """Return the page in Markdown; the instance supplies the entries that the docstring lacks."""
    parts = [f"# {known['id']}", text]
    if "## Action Space" not in text and known["actions"]:
        parts.append(f"## Action Space\n\n{known['actions']}")
    if "## Observation Space" not in text and known["observations"]:
        names = known["observation_names"] or []
        listed = "".join(f"\n- {name}" for name in names)
        parts.append(f"## Observation Space\n\n{known['observations']}\n{listed}".rstrip())
    if "## Arguments" not in text and known["options"]:
        rows = "".join(f"\n- `{name}`: {value}" for name, value in known["options"].items())
        parts.append(f"## Arguments\n{rows}")
    parts.append(_usage(known, text))
    return "\n\n".join(part for part in parts if part)


def _usage(known: dict[str, Any], text: str) -> str:
    """Return sizes that the docstring lacks, steps, threshold and controllers as a list."""
    lines = {
        "steps of an episode": known["steps"],
        "return that counts as solved": known["solved"],
        "controllers": ", ".join(known["controllers"]),
    }
    for kind in ("action", "observation"):
        names = known[f"{kind}_names"]
        if f"## {kind.title()} Space" in text and names:
            lines[f"{kind}s ({len(names)})"] = ", ".join(names)
    return "\n".join(["## Use", "", *(f"- {name}: {v}" for name, v in lines.items() if v)])

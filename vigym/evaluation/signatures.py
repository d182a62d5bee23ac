"""What callables ask for: arguments that they need, and parameters that a person may set by name."""

import inspect
from collections.abc import Callable
from typing import Any


def needed(found: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters without default.

    Raises:
        ValueError: a callable without signature, as some that are not written in Python.
    """
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(found).parameters.values()
    return [one.name for one in parameters if one.kind in plain and one.default is one.empty]


def free(found: Callable[..., Any], but: str = "") -> list[str] | None:
    """Return the names of the parameters that may be set by name, `but` one; None: any name."""
    parameters = inspect.signature(found).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    named = [one for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]
    settable = [one for one in named if one.kind is one.KEYWORD_ONLY or one.default is not one.empty]
    return [one.name for one in settable if one.name != but]

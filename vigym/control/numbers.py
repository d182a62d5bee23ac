"""The check of parameters that gaits and other controllers share."""

from dataclasses import fields
from typing import Any

from vigym.mechanism.check import number


def check_numbers(controller: Any) -> None:
    """Raise MechanismError, a ValueError, where a field of type float of a dataclass is no finite number."""
    for field in fields(controller):
        if field.type in (float, "float") and field.init:
            number(getattr(controller, field.name), field.name)

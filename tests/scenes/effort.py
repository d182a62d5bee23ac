"""Count what a function does: a measure of its effort that no load of the machine changes."""

import sys
from collections.abc import Callable
from types import FrameType


def count_lines(function: Callable[[], object]) -> int:
    """Return the lines of Python that a call executes; each turn of a comprehension is one more."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Callable:
        nonlocal count
        count += event == "line"
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(former)
    return count

"""Events of compilation, for messages about its progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

Listener = Callable[[str, str], None]  # called with module and name of a function
_listeners: list[tuple[Listener, Listener]] = []  # all that listen, at begin and end


class _Listener(event.Listener):
    """Listener that passes numba's events on as names of functions."""

    def __init__(self, begin: Listener, end: Listener) -> None:
        self._begin, self._end = begin, end

    def on_start(self, event: event.Event) -> None:
        """Report that a function begins to compile."""
        function = event.data["dispatcher"].py_func
        self._begin(function.__module__, function.__name__)

    def on_end(self, event: event.Event) -> None:
        """Report that a function is compiled."""
        function = event.data["dispatcher"].py_func
        self._end(function.__module__, function.__name__)


def listen(begin: Listener, end: Listener) -> None:
    """Call ``begin`` and ``end`` around the compilation of every function from now on."""
    _listeners.append((begin, end))
    event.register("numba:compile", _Listener(begin, end))


@contextmanager
def announce_compilation(function: Callable[..., object]) -> Iterator[None]:
    """Tell all listeners that a function compiles in another process, while this block runs."""
    names = function.__module__, function.__name__
    for begin, _ in _listeners:
        begin(*names)
    try:
        yield
    finally:
        for _, end in _listeners:
            end(*names)

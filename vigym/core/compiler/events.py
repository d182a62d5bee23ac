"""Events of compilation, for messages about its progress."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from numba.core import event

Listener = Callable[[str, str], None]  # called with module and name of a function
Plan = Callable[[str, Sequence[str]], None]  # with a kind of mechanisms, and the kernels it lacks
# all that listen: at begin and end, while another process compiles, and before all of that
_listeners: list[tuple[Listener, Listener, Callable[[], None], Plan]] = []


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


def listen(
    begin: Listener,
    end: Listener,
    waits: Callable[[], None] = lambda: None,
    plan: Plan = lambda kind, names: None,
) -> None:
    """Call ``begin`` and ``end`` around the compilation of every function from now on.

    ``waits`` is called now and then while another process compiles a kernel, ``plan`` before
    kernels compile that a kind of mechanisms needs.
    """
    _listeners.append((begin, end, waits, plan))
    event.register("numba:compile", _Listener(begin, end))


@contextmanager
def announce_compilation(function: Callable[..., object]) -> Iterator[None]:
    """Tell all listeners that a function compiles in another process, while this block runs."""
    names = function.__module__, function.__name__
    for begin, *_ in _listeners:
        begin(*names)
    try:
        yield
    finally:
        for _, end, *_ in _listeners:
            end(*names)


def announce_waiting() -> None:
    """Tell all listeners that another process still compiles."""
    for _, _, waits, _ in _listeners:
        waits()


def announce_plan(kind: str, names: Sequence[str]) -> None:
    """Tell all listeners which kernels will compile, and for which kind of mechanisms."""
    for *_, plan in _listeners:
        plan(kind, names)

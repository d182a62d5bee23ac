"""Message on the first use: kernels are being compiled."""

import sys
import time
from collections.abc import Sequence
from typing import Any

from vigym.core.compiler.events import listen

KERNELS = ("vigym.core.kernels.", "vigym.render.raster.kernels")


class _Announcer:
    """Printer of the message on stderr, with a clock where there is a terminal and tqdm."""

    def __init__(self) -> None:
        self._kernel: tuple[str, str] | None = None
        self._bar: Any = None
        self._left: set[str] = set()  # kernels that are planned
        self._start = 0.0

    def plan(self, kind: str, names: Sequence[str]) -> None:
        """Say what will compile, and how long that takes."""
        self._left = set(names)
        kernels = "a kernel" if len(names) == 1 else f"{len(names)} kernels"
        _print(
            f"vigym compiles {kernels} for {kind}, once for this version; "
            "that takes a minute or more on two processors"
        )

    def begin(self, module: str, name: str) -> None:
        """Open the message of a kernel; go on with it for every function that it needs."""
        # functions of programs in a text have no module
        if self._kernel is None and str(module).startswith(KERNELS):
            self._kernel = module, name
            self._start = time.perf_counter()
            if name not in self._left:
                _print(f"vigym compiles the kernel {name}, once for this version")
            self._bar = _bar(name)
        elif self._bar is not None:
            self._bar.update()

    def wait(self) -> None:
        """Show the time that has passed."""
        if self._bar is not None:
            self._bar.refresh()

    def end(self, module: str, name: str) -> None:
        """Close the message of a kernel."""
        if self._kernel != (module, name):
            return
        self._left.discard(name)
        if self._bar is not None:
            self._bar.close()
        else:
            left = f", {len(self._left)} left" if self._left else ""
            _print(f"  {name}: {time.perf_counter() - self._start:.0f} s{left}")
        self._kernel = self._bar = None


def _print(text: str) -> None:
    """Print a line to the standard error stream, unless that is closed."""
    if sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def _bar(name: str) -> Any:
    """Return a progress clock, or None without a terminal or tqdm."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(desc=f"  {name}", leave=True, ncols=72, bar_format="{desc:18} {elapsed}")


_ANNOUNCERS: list[_Announcer] = []


def announce() -> None:
    """Show progress from now on when kernels compile; one call serves the whole process."""
    if not _ANNOUNCERS:
        announcer = _Announcer()
        _ANNOUNCERS.append(announcer)
        listen(announcer.begin, announcer.end, announcer.wait, announcer.plan)

"""Limit of the frame rate, so that shown motion does not run faster than real time."""

import time


class FrameLimiter:
    """Delay between pictures.

    Args:
        rate: upper bound of pictures per second; None: no bound.
    """

    def __init__(self, rate: float | None) -> None:
        self._interval = 0.0 if rate is None else 1.0 / rate
        self._due = 0.0

    def wait(self) -> None:
        """Wait until the next picture is due."""
        clock = time.monotonic()
        if clock < self._due:
            time.sleep(self._due - clock)
        self._due = max(clock, self._due) + self._interval

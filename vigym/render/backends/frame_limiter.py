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
        """Sleep until the next picture is due."""
        now = time.monotonic()
        if now < self._due:
            time.sleep(self._due - now)
        self._due = max(now, self._due) + self._interval

"""Pictures for eyes: not faster than the motion they show."""

import time


class Pace:
    """Holds up whoever draws too fast.

    Args:
        rate: pictures per second that are not exceeded; None does not wait.
    """

    def __init__(self, rate: float | None) -> None:
        self._wait = 0.0 if rate is None else 1.0 / rate
        self._due = 0.0

    def wait(self) -> None:
        """Sleep until the next picture is due."""
        now = time.monotonic()
        if now < self._due:
            time.sleep(self._due - now)
        self._due = max(now, self._due) + self._wait

"""Errors of pictures."""


class RenderError(RuntimeError):
    """Error of a picture that cannot be drawn on this machine; the message names the cause."""


class WindowClosedError(RenderError):
    """Error of a picture for a window that a person has closed."""

    def __init__(self) -> None:
        super().__init__(
            "the window was closed; close the renderer to open another with the next picture"
        )

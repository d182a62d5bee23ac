"""Errors of pictures."""


class RenderError(RuntimeError):
    """Error of a picture that cannot be drawn on this machine; the message names the cause."""

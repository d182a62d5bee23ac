"""Errors of describing and assembling a mechanism."""


class MechanismError(ValueError):
    """Error in a mechanism; the message names the element, the found and the expected value."""


class AssemblyError(MechanismError):
    """Configuration that cannot be assembled or is impossible for the mechanism."""


class UrdfError(MechanismError):
    """URDF or SDF file that cannot be read truthfully; the message names file and element, too."""

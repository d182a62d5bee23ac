"""Errors of describing and assembling a mechanism."""


class MechanismError(ValueError):
    """Impossible description; the message names the element, what was found and expected."""


class AssemblyError(MechanismError):
    """Configuration that cannot be assembled or is impossible for the mechanism."""


class UrdfError(MechanismError):
    """URDF file that cannot be read truthfully; the message names file and element as well."""

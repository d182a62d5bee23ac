"""Errors a person meets while describing or assembling a mechanism."""


class MechanismError(ValueError):
    """A description that no mechanism can have; the message names the element, what was found and what is expected."""


class AssemblyError(MechanismError):
    """A configuration that cannot be assembled or is impossible for the mechanism."""


class UrdfError(MechanismError):
    """A URDF file that cannot be read truthfully; the message names file, element, what was found and expected."""

"""Did you mean ...?"""

from difflib import get_close_matches


def nearest(found: str, names: list[str]) -> str:
    """Return "did you mean ...?" where something is near, else what is expected."""
    near = get_close_matches(found, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(names)}"

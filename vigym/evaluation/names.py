"""Names given by users: suggestions for unknown ones."""

from difflib import get_close_matches


def suggest(found: str, names: list[str]) -> str:
    """Return "did you mean ...?" with the nearest of `names`, else the list of expected ones."""
    near = get_close_matches(found, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"expected one of: {', '.join(names)}"

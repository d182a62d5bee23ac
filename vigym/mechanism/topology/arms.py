"""Arms whose files do not fix their base."""

from vigym.mechanism.content import Elements


def looks_like_arm(mechanism: Elements) -> bool:
    """Return whether a robot that floats has one chain on its base, which is below all of it."""
    floating = [joint for joint in mechanism.tree_joints if joint.type == "floating"]
    if len(floating) != 1:
        return False
    children = [each for each in mechanism.tree_joints if each.parent == floating[0].child]
    base = mechanism.bodies[floating[0].child]
    others = [body for body in mechanism.bodies.values() if body is not base]
    above = all(body.position[2] > base.position[2] for body in others)
    return len(children) == 1 and len(others) > 1 and above


def suggest_fixed(mechanism: Elements) -> str:
    """Return advice on a robot that looks like an arm."""
    return (
        f"{mechanism.name!r} floats and looks like an arm: nothing holds its base, which topples "
        "(base='fixed' welds it to the world, base='floating' is silent)"
    )

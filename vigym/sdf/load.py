"""Import of an SDF file as a Mechanism."""

import os

from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.mechanism import Mechanism
from vigym.sdf.read import read_sdf
from vigym.urdf.convert.load import check_options, to_mechanism


def load_sdf(
    path: str | os.PathLike[str],
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
    inertias: str = "error",
) -> Mechanism:
    """Return the mechanism of an SDF file (1.2 to 1.12) at the file's zero, placed as it says.

    The file has one model that is not static, alone or in a <world>. Links, joints and notes are
    those of `load_urdf`, with these rules of SDF:

    - Joints that lead to a link which another joint carries close loops; the first one in the file
      that is reached from the root carries it. Frames are those of `relative_to`, `attached_to` and
      `expressed_in`.
    - Bounds that are missing, infinite or beyond 1e16 are none. A joint without a finite `effort`
      is passive. `revolute2` is a universal joint; its axes have to be perpendicular. A gearbox
      is a coupling of the two joints to its links, as <mimic> is.
    - A link without mass or inertia has 1 kg and 1 kg m^2; a shape without <mu> has friction 1.
      Only the friction in <ode> is read.
    - Nested models, <include> in a model and joints of a world are errors.

    Args:
        path: of the file.
        base: "fixed" welds the root to the world, "floating" frees it; None: a model with a joint
            whose parent is the world is fixed, any other floats.
        ground: as in `load_urdf`.
        self_collision: as there.
        missing_meshes: as there.
        inertias: as there.

    Raises:
        UrdfError: a file that cannot be read truthfully; names file, element, found and expected.
        AssemblyError: loops that cannot be closed; names file, joint and the remaining gap.
        MechanismError: a wrong `ground`.
    """
    check_options(path, base, missing_meshes, inertias)
    robot = read_sdf(path)
    return to_mechanism(robot, base, ground, self_collision, missing_meshes, inertias)

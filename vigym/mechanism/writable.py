"""Elements of a mechanism as files of other programs."""

import os

from vigym.mechanism.content import Elements


class Writable(Elements):
    """Elements that can be written to files; base of `Mechanism`."""

    def to_urdf(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return this mechanism as a URDF file, loops included; write it to `path` if one is given.

        `load_urdf` reads it back; it takes the ground as an argument. What URDF lacks is in
        elements of vigym alone, which `docs/robots.md` lists.

        Raises:
            MechanismError: an element that a file cannot hold, such as a potential or a track.
        """
        from vigym.urdf.write.write import to_urdf

        return to_urdf(self, path)

    def to_mjcf(
        self,
        path: str | os.PathLike[str] | None = None,
        timestep: float = 0.002,
        integrator: str = "implicitfast",
    ) -> str:
        """Return this mechanism as an MJCF file, MuJoCo's; write it to `path` if one is given.

        `load_mjcf` reads it back, apart from springs between points, meshes and actuators of balls;
        `docs/coming_from_mujoco.md` tells how loops are written.

        Args:
            path: of the file; None writes none.
            timestep: of MuJoCo [s].
            integrator: of MuJoCo: "Euler", "implicit", "implicitfast" or "RK4".

        Raises:
            MechanismError: an element that MJCF lacks, such as a wheel; names it.
            AssemblyError: loops that cannot be closed.
        """
        from vigym.mjcf.write.model import to_mjcf

        return to_mjcf(self, path, timestep, integrator)

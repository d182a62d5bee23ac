"""Colours by OpenGL without a display: pybullet's EGL plugin, which a graphics card or Mesa makes fast."""

import ctypes
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.captured_output import captured_output
from vigym.render.backends.bullet import Stage, look
from vigym.render.backends.software import connect
from vigym.render.scene.camera import View
from vigym.render.scene.meshes import RenderError, bullet, read_mesh
from vigym.render.scene.pieces import Piece
from vigym.render.scene.surfaces import MeshFile, Surface

MEND = "; VIGYM_RENDERER=software needs none of it"
DEVICES, DEVICE_PLATFORM = 16, 0x313F  # how many are asked for; EGL_PLATFORM_DEVICE_EXT
WARM_UP = 3  # photographs after which Mesa draws the same picture always
_used_by: set[int] = set()  # processes that have started EGL, and the parents of this one that had when it was forked


class EglStage(Stage):
    """Pieces that OpenGL photographs.

    Args:
        pieces: what stands on the stage.

    Raises:
        RenderError: on first use, when EGL, the plugin or a mesh file fails, or in a process forked from one that
            draws with EGL: its driver would hang there.
    """

    def __init__(self, pieces: list[Piece]) -> None:
        super().__init__(pieces, _connect)

    def _open(self) -> int:
        """Return a client that has warmed up: with the first photographs the driver prints its name."""
        client, p = super()._open(), bullet()
        with captured_output():
            for _ in range(WARM_UP):
                p.getCameraImage(64, 64, renderer=p.ER_BULLET_HARDWARE_OPENGL, physicsClientId=client)
        return client

    def _visuals(self, p: ModuleType, client: int) -> list[tuple[Piece, int]]:
        """Return every piece and pybullet's number of what it looks like: the plugin reads nothing but files."""
        files: dict[bytes, MeshFile] = {}
        with tempfile.TemporaryDirectory(prefix="vigym-") as folder:
            shown = [(piece, _file(piece.surface, Path(folder), files)) for piece in self._pieces]
            return [(piece, read_mesh(mesh, p.createVisualShape, **look(piece, client))) for piece, mesh in shown]

    def photograph(
        self, view: View, **options: Any
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_]]:
        """Return colours (h, w, 3), depth buffer (h, w) and which pixels show a piece (h, w)."""
        p = bullet()
        options |= {"renderer": p.ER_BULLET_HARDWARE_OPENGL, "flags": p.ER_NO_SEGMENTATION_MASK}  # a second picture
        colours, depth, _ = self._shot(view, **options)
        return colours, depth, depth < 1.0


def _file(surface: Surface | MeshFile, folder: Path, files: dict[bytes, MeshFile]) -> MeshFile:
    """Return a surface as a file in `folder`; equal ones share it by way of `files`."""
    if isinstance(surface, MeshFile):
        return surface
    key = surface.vertices.tobytes()
    if key not in files:
        lines = [f"{kind} {x:.9g} {y:.9g} {z:.9g}" for kind, rows in (("v", surface.vertices), ("vn", surface.normals))
                 for x, y, z in rows.tolist()]  # fmt: skip
        lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in (surface.triangles + 1).tolist()]
        path = folder / f"{len(files)}.obj"
        path.write_text("\n".join(lines) + "\n")
        files[key] = MeshFile(path, np.ones(3))
    return files[key]


def _connect(p: ModuleType) -> int:
    """Return a client that draws with EGL."""
    if _used_by - {os.getpid()}:
        raise RenderError(f"EGL: a process forked from one that draws with it cannot, start it by 'spawn'{MEND}")
    spec = importlib.util.find_spec("eglRenderer")
    if spec is None or spec.origin is None:
        raise RenderError(f"EGL: this build of pybullet has no eglRenderer plugin{MEND}")
    check_egl()
    client = connect(p)
    _used_by.add(os.getpid())
    if p.loadPlugin(spec.origin, "_eglRendererPlugin", physicsClientId=client) < 0:
        p.disconnect(client)
        raise RenderError(f"EGL: pybullet's eglRenderer plugin does not load{MEND}")
    return client


def check_egl() -> None:
    """Make sure that a device can be used: where none can, pybullet's plugin ends the whole process.

    Raises:
        RenderError: another system than Linux, no EGL library, no device or none that starts.
    """
    if not sys.platform.startswith("linux"):
        raise RenderError(f"EGL: found {sys.platform}, expected Linux{MEND}")
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        raise RenderError(f"EGL needs the library libEGL.so.1: {error}{MEND}") from None
    query, display = (_extension(egl, name) for name in ("eglQueryDevicesEXT", "eglGetPlatformDisplayEXT"))
    devices, count = (ctypes.c_void_p * DEVICES)(), ctypes.c_int(0)
    if not query(ctypes.c_int(DEVICES), devices, ctypes.byref(count)) or count.value == 0:
        raise RenderError(f"EGL: found no device that draws{MEND}")
    for device in devices[: count.value]:
        found = display(ctypes.c_uint(DEVICE_PLATFORM), ctypes.c_void_p(device), None)
        if found and egl.eglInitialize(ctypes.c_void_p(found), None, None):
            return  # not ended again: others in this process may be using it
    raise RenderError(f"EGL: none of {count.value} devices starts{MEND}")


def _extension(egl: ctypes.CDLL, name: str) -> Any:
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    address = egl.eglGetProcAddress(name.encode())
    if not address:
        raise RenderError(f"EGL: the library libEGL.so.1 has no {name}{MEND}")
    return ctypes.CFUNCTYPE(ctypes.c_void_p)(address)

"""OpenGL pictures without a display: pybullet's EGL plugin, on a graphics card or Mesa."""

import ctypes
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from vigym.captured_output import captured_output
from vigym.render.backends.bullet import (
    BulletClient,
    Depth,
    Mask,
    Pixels,
    appearance,
    connect_direct,
)
from vigym.render.scene.camera import View
from vigym.render.scene.meshes import RenderError, import_pybullet, read_mesh
from vigym.render.scene.surfaces import MeshFile, Surface
from vigym.render.scene.visuals import Visual

HINT = "; VIGYM_RENDERER=software needs none of it"
MAX_DEVICES = 16
DEVICE_PLATFORM = 0x313F  # EGL_PLATFORM_DEVICE_EXT
WARM_UP = 3  # pictures after which Mesa draws the same picture always
_used_by: set[int] = set()  # processes that started EGL, and those this one was forked from


class EglClient(BulletClient):
    """Visuals drawn by OpenGL.

    Args:
        visuals: moved by `set_poses`.

    Raises:
        RenderError: on first use, when EGL, the plugin or a mesh file fails, or in a process forked
            from one that draws with EGL: its driver would hang there.
    """

    def __init__(self, visuals: list[Visual]) -> None:
        super().__init__(visuals, _connect)

    def _open(self) -> int:
        """Return a client after its first pictures, with which the driver prints its name."""
        client, p = super()._open(), import_pybullet()
        opengl = p.ER_BULLET_HARDWARE_OPENGL
        with captured_output():
            for _ in range(WARM_UP):
                p.getCameraImage(64, 64, renderer=opengl, physicsClientId=client)
        return client

    def _create_shapes(self, p: ModuleType, client: int) -> list[tuple[Visual, int]]:
        """Return every visual with its pybullet visual shape; the plugin reads files only."""
        files: dict[bytes, MeshFile] = {}
        create = p.createVisualShape
        with tempfile.TemporaryDirectory(prefix="vigym-") as folder:
            meshes = [_mesh_file(one.surface, Path(folder), files) for one in self._visuals]
            return [
                (visual, read_mesh(mesh, create, **appearance(visual, client)))
                for visual, mesh in zip(self._visuals, meshes, strict=True)
            ]

    def capture(self, view: View, **options: Any) -> tuple[Pixels, Depth, Mask]:
        """Return colours (h, w, 3), depth buffer (h, w) and the mask of the visuals (h, w)."""
        p = import_pybullet()
        options["renderer"] = p.ER_BULLET_HARDWARE_OPENGL
        options["flags"] = p.ER_NO_SEGMENTATION_MASK  # it would cost a second picture
        colours, depth, _ = self._camera_image(view, **options)
        return colours, depth, depth < 1.0


def _mesh_file(surface: Surface | MeshFile, folder: Path, files: dict[bytes, MeshFile]) -> MeshFile:
    """Return a surface as an OBJ file in `folder`; equal surfaces share the file in `files`."""
    if isinstance(surface, MeshFile):
        return surface
    key = surface.vertices.tobytes()
    if key not in files:
        lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in surface.vertices.tolist()]
        lines += [f"vn {x:.9g} {y:.9g} {z:.9g}" for x, y, z in surface.normals.tolist()]
        lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in (surface.triangles + 1).tolist()]
        path = folder / f"{len(files)}.obj"
        path.write_text("\n".join(lines) + "\n")
        files[key] = MeshFile(path, np.ones(3))
    return files[key]


def _connect(p: ModuleType) -> int:
    """Return a client that draws with EGL."""
    if _used_by - {os.getpid()}:
        raise RenderError(
            "EGL: a process forked from one that draws with it cannot draw, "
            f"start it by 'spawn'{HINT}"
        )
    spec = importlib.util.find_spec("eglRenderer")
    if spec is None or spec.origin is None:
        raise RenderError(f"EGL: this build of pybullet has no eglRenderer plugin{HINT}")
    check_egl()
    client = connect_direct(p)
    _used_by.add(os.getpid())
    if p.loadPlugin(spec.origin, "_eglRendererPlugin", physicsClientId=client) < 0:
        p.disconnect(client)
        raise RenderError(f"EGL: pybullet's eglRenderer plugin does not load{HINT}")
    return client


def check_egl() -> None:
    """Check that an EGL device starts; without one pybullet's plugin ends the whole process.

    Raises:
        RenderError: another system than Linux, no EGL library, no device or none that starts.
    """
    if not sys.platform.startswith("linux"):
        raise RenderError(f"EGL: found {sys.platform}, expected Linux{HINT}")
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        raise RenderError(f"EGL needs the library libEGL.so.1: {error}{HINT}") from None
    query = _extension(egl, "eglQueryDevicesEXT")
    get_display = _extension(egl, "eglGetPlatformDisplayEXT")
    devices = (ctypes.c_void_p * MAX_DEVICES)()
    count = ctypes.c_int(0)
    done = query(ctypes.c_int(MAX_DEVICES), devices, ctypes.byref(count))
    if not done or count.value == 0:
        raise RenderError(f"EGL: found no device that draws{HINT}")
    for device in devices[: count.value]:
        display = get_display(ctypes.c_uint(DEVICE_PLATFORM), ctypes.c_void_p(device), None)
        if display and egl.eglInitialize(ctypes.c_void_p(display), None, None):
            return  # not terminated: others in this process may be using it
    raise RenderError(f"EGL: none of {count.value} devices starts{HINT}")


def _extension(egl: ctypes.CDLL, name: str) -> Any:
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    address = egl.eglGetProcAddress(name.encode())
    if not address:
        raise RenderError(f"EGL: the library libEGL.so.1 has no {name}{HINT}")
    return ctypes.CFUNCTYPE(ctypes.c_void_p)(address)

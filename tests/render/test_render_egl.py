"""Pictures by EGL: those of the software rasteriser but for its rounding, and clear errors where there is no EGL."""

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

import pytest

from scenes.drawings import assembled, chain
from vigym.render.backends import egl
from vigym.render.make import BACKEND_VARIABLE, make_renderer
from vigym.render.scene.meshes import RenderError

TESTS = str(Path(__file__).resolve().parents[1])
DRAW = """
import multiprocessing
import os
from pathlib import Path
import numpy as np
from scenes.drawings import assembled, chain, poses
from vigym import assets, load_urdf
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.elements.shapes import Mesh
from vigym.render.scene.meshes import RenderError
from vigym.render.make import make_renderer

def drawn(mech, bodies, backend, size=(320, 240)):
    os.environ["VIGYM_RENDERER"] = backend
    renderer = make_renderer(mech, "rgb_array", *size)
    pictures = [renderer.render(*bodies) for _ in range(3)]
    assert all(np.array_equal(pictures[0], picture) for picture in pictures)
    renderer.close()
    assert np.array_equal(renderer.render(*bodies), pictures[0])
    renderer.close()
    return pictures[0].astype(int)

Path("tetrahedron.obj").write_text("v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 3 2\\nf 1 2 4\\nf 2 3 4\\nf 1 4 3\\n")
mesh = Mechanism(gravity=(0.0, 0.0, 0.0))
mesh.add_body("body", 1.0, (1.0, 1.0, 1.0), shapes=[Mesh("tetrahedron.obj", rgba=(0.9, 0.1, 0.1, 1.0))])
cartpole = load_urdf(assets.path("cartpole"))
scenes = [(mesh, assembled(mesh)), (cartpole, poses(cartpole, lambda joint: 0.4)), (chain(2), assembled(chain(2)))]
for mech, bodies in scenes:
    software, opengl = (drawn(mech, bodies, backend) for backend in ("software", "egl"))
    differing = np.abs(software - opengl).max(axis=-1)
    assert (differing > 40).mean() < 0.01, (differing > 40).mean()  # rims alone, by parts of a pixel
    assert np.ptp(software) > 150

def child(answer):
    try:
        make_renderer(chain(1), "rgb_array", 32, 32).render(*assembled(chain(1)))
    except RenderError as error:
        answer.send(str(error))

context = multiprocessing.get_context("fork")
ours, theirs = context.Pipe()
process = context.Process(target=child, args=(theirs,))
process.start()
assert ours.poll(60)
assert "forked" in ours.recv()
process.join(60)
"""


def test_pictures_are_those_of_the_software_and_nothing_is_printed(tmp_path, run_python):
    try:
        egl.check_egl()
    except RenderError as error:
        pytest.skip(f"needs EGL: {error}")
    if importlib.util.find_spec("eglRenderer") is None:
        pytest.skip("needs a pybullet with its eglRenderer plugin")
    code = f"import sys; sys.path.insert(0, {TESTS!r})\n{DRAW}"
    done = run_python(code, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert os.listdir(tmp_path) == ["tetrahedron.obj"]


def draw_with_egl(monkeypatch):
    monkeypatch.setenv(BACKEND_VARIABLE, "egl")
    renderer = make_renderer(chain(1), "rgb_array", 32, 32)
    try:
        renderer.render(*assembled(chain(1)))
    finally:
        renderer.close()


def test_a_missing_library_is_named(monkeypatch):
    if importlib.util.find_spec("eglRenderer") is None:
        pytest.skip("needs a pybullet with its eglRenderer plugin")

    def missing(name):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(RenderError, match=r"libEGL.so.1: .*cannot open.*VIGYM_RENDERER=software"):
        egl.check_egl()


def test_a_missing_plugin_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RenderError, match="no eglRenderer plugin; VIGYM_RENDERER=software"):
        draw_with_egl(monkeypatch)


def test_devices_that_do_not_start_are_counted(monkeypatch):
    class Library:
        def eglInitialize(self, *args):
            return 0

    def extension(library, name):
        if name == "eglGetPlatformDisplayEXT":
            return lambda *args: 1

        def query(size, devices, count):
            count._obj.value = 2
            return 1

        return query

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    monkeypatch.setattr(egl, "_extension", extension)
    with pytest.raises(RenderError, match="none of 2 devices starts"):
        egl.check_egl()


def test_another_backend_is_refused(monkeypatch):
    monkeypatch.setenv(BACKEND_VARIABLE, "vulkan")
    with pytest.raises(
        ValueError, match="variable VIGYM_RENDERER: found 'vulkan', expected 'software' or 'egl'"
    ):
        make_renderer(chain(1), "rgb_array")

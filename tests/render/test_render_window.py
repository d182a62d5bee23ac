"""The window: honest where there is none, and open where there is a display."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenes.drawings import assembled, chain
from vigym.render.errors import RenderError
from vigym.render.make import make_renderer

TESTS = str(Path(__file__).resolve().parents[1])
SHOW = """
import time
import numpy as np
from vigym.mechanism.mechanism import Mechanism
from vigym.render.backends.bullet import import_pybullet
from vigym.render.errors import RenderError
from vigym.render.make import make_renderer

mech = Mechanism()
mech.add_body("rod", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, -0.5))
mech.add_joint("hinge", "revolute", "world", "rod", (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
pose = np.array([[0.0, 0.0, -0.5]]), np.array([[1.0, 0.0, 0.0, 0.0]])
window = make_renderer(mech, "human", 160, 120, rate=100.0)
assert window.render(*pose) is None
start = time.monotonic()
for _ in range(21):
    window.render(*pose)
assert time.monotonic() - start >= 0.2
try:
    make_renderer(mech, "human", 160, 120).render(*pose)
except RenderError as error:
    assert "one per process" in str(error)
else:
    raise AssertionError("a second window")
picture = make_renderer(mech, "rgb_array", 32, 32).render(*pose)
assert picture.shape == (32, 32, 3)
import_pybullet().disconnect(window._client.client())  # as the user's click does
try:
    window.render(*pose)
except RenderError as error:
    assert "was closed" in str(error)
else:
    raise AssertionError("drew without a window")
window.close()
window.close()
window.render(*pose)
window.close()
"""


@pytest.fixture
def display():
    """Name of a display that lives in memory."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("needs Xvfb, a display in memory")
    ours, theirs = os.pipe()
    command = [server, "-displayfd", str(theirs), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[theirs], stderr=subprocess.DEVNULL)
    os.close(theirs)
    try:
        with os.fdopen(ours) as pipe:
            yield ":" + pipe.readline().strip()
    finally:
        process.terminate()
        process.wait(30)


def test_a_window_opens_keeps_its_rate_and_closes(display, tmp_path):
    pytest.importorskip("pybullet", reason="needs pybullet: pip install 'vigym[bullet]'")
    environment = {**os.environ, "DISPLAY": display}
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="displays are found by DISPLAY on Linux only"
)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "the variable DISPLAY is not set"),
        ("", "DISPLAY is not set"),
        (":4321", "no display answers at .*:4321|needs the library"),
    ],
)
def test_without_a_display_the_error_says_what_is_missing(monkeypatch, value, message):
    pytest.importorskip("pybullet", reason="needs pybullet: pip install 'vigym[bullet]'")
    monkeypatch.delenv("DISPLAY", raising=False)
    if value is not None:
        monkeypatch.setenv("DISPLAY", value)
    mech = chain(1)
    window = make_renderer(mech, "human")
    with pytest.raises(RenderError, match=message) as error:
        window.render(*assembled(mech))
    assert "rgb_array" in str(error.value)
    window.close()


# The window of pygame, where pybullet is not installed

SHOW_PICTURES = """
import time
import numpy as np
import pygame
from scenes.drawings import assembled, chain
from vigym.render.backends.pygame_window import PygameRenderer
from vigym.render.errors import RenderError
from vigym.render.make import make_renderer
from vigym.render.scene.camera import Camera
from vigym.render.scene.scene import Scene

mech = chain(2)
window = PygameRenderer(Scene(mech, Camera(), 160, 120), rate=100.0)
assert window.render(*assembled(mech)) is None
shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
picture = make_renderer(mech, "rgb_array", 160, 120).render(*assembled(mech))
assert np.array_equal(shown, picture)
start = time.monotonic()
for _ in range(21):
    window.render(*assembled(mech))
assert time.monotonic() - start >= 0.2
try:
    PygameRenderer(Scene(mech, Camera(), 160, 120), None).render(*assembled(mech))
except RenderError as error:
    assert "one per process" in str(error)
else:
    raise AssertionError("a second window")
pygame.event.post(pygame.event.Event(pygame.QUIT))  # as the user's click does
for _ in range(2):
    try:
        window.render(*assembled(mech))
    except RenderError as error:
        assert "was closed" in str(error)
    else:
        raise AssertionError("drew without a window")
window.close()
window.close()
window.render(*assembled(mech))
window.close()
"""


def test_a_window_of_pygame_shows_the_pictures(tmp_path):
    pytest.importorskip("pygame", reason="needs pygame-ce: pip install 'vigym[window]'")
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy"}
    code = f"import sys; sys.path.insert(0, {TESTS!r})\n{SHOW_PICTURES}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="displays are found by variables on Linux only"
)
def test_without_a_display_pygame_is_not_asked_to_draw_where_nobody_sees_it(run_python):
    pytest.importorskip("pygame", reason="needs pygame-ce: pip install 'vigym[window]'")
    code = f"""
import os, sys
sys.path.insert(0, {TESTS!r})
for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
    os.environ.pop(name, None)
from scenes.drawings import assembled, chain
from vigym.render.backends.pygame_window import PygameRenderer
from vigym.render.errors import RenderError
from vigym.render.scene.camera import Camera
from vigym.render.scene.scene import Scene
window = PygameRenderer(Scene(chain(1), Camera(), 64, 64), None)
try:
    window.render(*assembled(chain(1)))
except RenderError as error:
    print(error)
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("render_mode='human': pygame opens no window: ")
    assert "'browser' need no display" in done.stdout


def test_without_pybullet_and_pygame_the_error_names_them_and_the_browser(monkeypatch):
    monkeypatch.setattr("vigym.render.make.find_spec", lambda name: None)
    with pytest.raises(RenderError, match=r"pygame-ce .*vigym\[window\].*render_mode='browser'"):
        make_renderer(chain(1), "human")

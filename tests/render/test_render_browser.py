"""The scene in a browser: what is served, and what a real browser makes of it."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import gymnasium as gym
import numpy as np
import pytest

from scenes.drawings import assembled, ball, chain, reddish
from vigym.mechanism.elements.shapes import Mesh
from vigym.mechanism.mechanism import Mechanism
from vigym.render.errors import RenderError
from vigym.render.make import make_renderer
from vigym.render.overlay.marks import Marks
from vigym.render.scene.camera import Camera

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
WEBGL = ("--no-sandbox", "--headless", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
FORGET = """
import gc
import urllib.request
import numpy as np
from vigym.mechanism.mechanism import Mechanism
from vigym.render.make import make_renderer

mech = Mechanism()
mech.add_body("body", 1.0, (1.0, 1.0, 1.0))
kept, forgotten = (make_renderer(mech, "browser", 64, 64) for _ in range(2))
for renderer in (kept, forgotten):
    renderer.render(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))
address = forgotten.address
del renderer, forgotten
gc.collect()
try:
    urllib.request.urlopen(address, timeout=5)
except OSError:
    pass
else:
    raise AssertionError("it is still served")
"""


@pytest.fixture
def show():
    """Make renderers that are closed in the end."""
    pytest.importorskip("viser", reason="needs viser: pip install 'vigym[browser]'")
    made = []

    def renderer(mech, **options):
        made.append(make_renderer(mech, "browser", 160, 120, **options))
        return made[-1]

    yield renderer
    for one in made:
        one.close()


def test_the_page_is_served_on_this_machine_and_the_address_is_told(show, capfd):
    renderer = show(chain(2))
    assert renderer.address is None
    assert renderer.render(*assembled(chain(2))) is None
    with urllib.request.urlopen(renderer.address, timeout=30) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read()
    assert renderer._page._server.get_host() == "127.0.0.1"
    assert capfd.readouterr() == ("", f"vigym shows the scene at {renderer.address}\n")


def test_a_forgotten_page_ends_and_nothing_is_said_at_the_end(show, run_python):
    done = run_python(FORGET)
    told = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(told)) == (0, "", 2), done.stdout + done.stderr
    assert all(line.startswith("vigym shows the scene at http://localhost:") for line in told)


def test_two_scenes_have_two_addresses(show):
    first, second = show(chain(1)), show(chain(1))
    for renderer in (first, second):
        renderer.render(*assembled(chain(1)))
    assert first.address != second.address


def test_closing_ends_the_page_and_drawing_starts_another(show):
    renderer = show(chain(1))
    renderer.render(*assembled(chain(1)))
    address = renderer.address
    renderer.close(), renderer.close()
    assert renderer.address is None
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address, timeout=5)
    renderer.render(*assembled(chain(1)))
    assert renderer.address is not None


def test_what_floats_stays_in_the_middle_and_the_floor_moves_past_it(show):
    mech = ball(position=(0.0, 0.0, 0.5), ground=True)
    renderer = show(mech)
    positions, orientations = assembled(mech)
    renderer.render(positions, orientations)
    page = renderer._page
    before = np.array(page._frames[0].position), np.array(page._floor.position)
    turned = np.array([[0.6, 0.0, 0.8, 0.0]])
    renderer.render(positions + [3.0, -4.0, 0.0], turned)
    assert np.allclose(page._frames[0].position, before[0])
    assert np.allclose(page._frames[0].wxyz, turned[0])
    assert np.allclose(page._floor.position, before[1] - [3.0, -4.0, 0.0])


def test_marks_are_shown(show):
    mech = ball(position=(0.0, 0.0, 0.5), ground=True)
    renderer = show(mech)
    forces, points = np.array([[0.0, 0.0, 9.81], [1.0, 0.0, 0.0]]), np.zeros((2, 3))
    renderer.render(*assembled(mech), Marks(forces, points, {"kinetic": 1.25, "potential": -2.0}))
    page = renderer._page
    arrows = np.asarray(page._forces.points)
    assert arrows.shape == (2, 2, 3)
    assert np.allclose((arrows[:, 1] - arrows[:, 0])[0, :2], 0.0)
    assert page._text.visible
    assert page._text.content == "- kinetic 1.250 J\n- potential -2.000 J"


def test_pictures_keep_their_rate(show):
    renderer = show(chain(1), rate=100.0)
    renderer.render(*assembled(chain(1)))
    start = time.monotonic()
    for _ in range(21):
        renderer.render(*assembled(chain(1)))
    assert time.monotonic() - start >= 0.2


def test_meshes_are_scaled_and_those_that_cannot_be_read_are_named(show, tmp_path):
    file = tmp_path / "tetrahedron.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 1.0, (1.0, 1.0, 1.0), shapes=[Mesh(file, scale=(2.0, 1.0, 3.0))])
    renderer = show(mech)
    renderer.render(*assembled(mech))
    (node,) = [handle for handle in renderer._page.visuals if handle.name == "/body0/visual0"]
    assert np.allclose(np.max(node.vertices, axis=0), (2.0, 1.0, 3.0))
    file.write_bytes(b"v not a number")
    with pytest.raises(RenderError, match="tetrahedron.obj: found a file that trimesh cannot read"):
        show(mech).render(*assembled(mech))


def test_environments_show_every_step(show):
    env = gym.make("vigym/Pendulum-v0", render_mode="browser", overlay="energy").unwrapped
    env.reset(seed=0)
    (renderer,) = env._renderers.values()
    page = renderer._page
    before = np.array(page._frames[0].position)
    env.step(np.ones(1, dtype=np.float32))
    assert env.render() is None
    assert not np.allclose(page._frames[0].position, before)
    assert "potential" in page._text.content
    env.close()


def test_without_viser_the_error_tells_what_is_missing(monkeypatch):
    monkeypatch.delitem(sys.modules, "vigym.render.backends.browser", raising=False)
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(RenderError, match=r"needs viser \(pip install 'vigym\[browser\]'\)"):
        make_renderer(chain(1), "browser")


def seen_by_a_browser(renderer, folder):
    """What a real browser without a window draws of the page (120, 160, 3)."""
    program = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if program is None:
        pytest.skip(f"needs a browser: one of {BROWSERS}")
    command = [
        program,
        *WEBGL,
        f"--user-data-dir={folder}",
        "--remote-debugging-port=0",
        renderer.address,
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, start_new_session=True, **quiet)
    try:
        deadline, server = time.monotonic() + 60.0, renderer._page._server
        while not server.get_clients():
            assert time.monotonic() < deadline, "the browser did not connect"
            assert process.poll() is None, "the browser did not start"
            time.sleep(0.1)
        (client,) = server.get_clients().values()
        while not np.allclose(client.camera.position, renderer._scene.view.position, atol=1e-3):
            assert time.monotonic() < deadline, f"the camera stands at {client.camera.position}"
            time.sleep(0.1)
        return client.get_render(height=120, width=160)[..., :3]
    finally:
        os.killpg(
            process.pid, signal.SIGKILL
        )  # the program may be a script, and has children of its own
        process.wait(30)


def test_a_real_browser_draws_the_ball_in_the_middle(show, tmp_path):
    mech = ball(gravity=(0.0, 0.0, 0.0))
    renderer = show(mech, camera=Camera(target=(0.0, 0.0, 1.0), distance=6.0))
    renderer.render(*assembled(mech))
    picture = seen_by_a_browser(renderer, tmp_path)
    rows, columns = np.nonzero(reddish(picture))
    expected = make_renderer(
        mech, "rgb_array", 160, 120, camera=Camera(target=(0.0, 0.0, 1.0), distance=6.0)
    )
    wide = np.ptp(np.nonzero(reddish(expected.render(*assembled(mech))))[1])
    expected.close()
    assert np.allclose([rows.mean(), columns.mean()], [59.5, 79.5], atol=2.0)
    assert abs(np.ptp(columns) - wide) <= 4

"""Where a shape can touch a plane: exact support of every shape and of the hulls of meshes."""

import struct
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

from scenes.shapes import SOLIDS, sample, support
from vigym.mechanism.elements import shapes
from vigym.mechanism.elements.collisions import MAX_CORNERS
from vigym.mechanism.elements.contacts import contact_features
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.mesh import hull_corners, read_mesh
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.spatial import batch_rotation_matrix

ONE = (1.0, 1.0, 1.0)
POSE = {"position": (0.3, -0.2, 0.5), "orientation": (0.5, 0.1, -0.7, 0.4)}
CUBE = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T


def one_body() -> Mechanism:
    mech = Mechanism()
    mech.add_body("a", 1.0, ONE)
    return mech


def directions(count: int = 500) -> np.ndarray:
    d = np.random.default_rng(3).normal(size=(count, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


# support of a shape along directions e (n, 3) in its own axes, by its own formula
EXACT = {
    "box": lambda box, e: np.abs(e) @ np.asarray(box.size) / 2,
    "sphere": lambda ball, e: np.full(len(e), ball.radius),
    "capsule": lambda rod, e: rod.radius + np.abs(e[:, 2]) * rod.length / 2,
    "cylinder": lambda can, e: (
        can.radius * np.hypot(e[:, 0], e[:, 1]) + np.abs(e[:, 2]) * can.length / 2
    ),
}


def exact(shape, d: np.ndarray) -> np.ndarray:
    """Support function of a shape by its own formula."""
    e = d @ batch_rotation_matrix(np.asarray(shape.orientation))
    return EXACT[shape.kind](shape, e) + d @ np.asarray(shape.position)


# kinds of the features of every shape but a mesh
FEATURES = {
    "sphere": ["point"],
    "capsule": ["point"] * 2,
    "box": ["point"] * 8,
    "cylinder": ["rim"] * 2,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", SOLIDS)
def test_parts_reach_as_far_as_the_shape_in_every_direction(kind, seed):
    shape, kinds = sample(kind, seed), FEATURES[kind]
    parts = contact_features(one_body().add_collision("c", "a", shape))
    assert [part.kind for part in parts] == kinds
    np.testing.assert_allclose(
        support(parts, directions()), exact(shape, directions()), atol=1e-15, rtol=1e-14
    )
    axes = [np.linalg.norm(part.axis) for part in parts]
    np.testing.assert_allclose(axes, [kind == "rim" for kind in kinds], atol=1e-15)


def test_every_class_of_shapes_has_a_kind_of_its_own():
    classes = {each for each in vars(shapes).values() if isinstance(each, type)}
    named = {each for each in classes if issubclass(each, shapes.Shape)} - {shapes.Shape}
    assert named == set(shapes.SHAPES.values())


def test_a_shape_without_features_is_refused():
    """A new shape is not taken for the one whose sizes it has."""

    class Blob(Cylinder):
        kind = "blob"

    blob = Blob(0.2, 0.6)
    collision = one_body().add_collision("c", "a", Cylinder(0.2, 0.6))
    with pytest.raises(TypeError, match=r"found a blob, expected sphere, .* or mesh"):
        contact_features(replace(collision, shape=blob))
    with pytest.raises(
        MechanismError, match=r"found .*Blob.*, expected Box or Sphere or .* or Mesh$"
    ):
        one_body().add_collision("c", "a", blob)


def test_a_contact_is_its_own_ball():
    (part,) = contact_features(one_body().add_contact("foot", "a", (1, 2, 3), radius=0.05))
    assert (part.kind, part.point.tolist(), part.radius) == ("point", [1.0, 2.0, 3.0], 0.05)


def test_names_of_contact_points():
    mech = one_body()
    mech.add_collision("ball", "a", Sphere(0.1))
    mech.add_collision("rod", "a", Capsule(0.1, 0.5))
    mech.add_contact("foot", "a", (0, 0, 0))
    mech.add_collision("drum", "a", Cylinder(0.1, 0.5))
    assert mech.contact_names == [
        "ball",
        "rod:0",
        "rod:1",
        "foot",
        *(f"drum:{i}" for i in range(8)),
    ]
    mech.ground = None
    assert mech.contact_names == []


CLOUDS = {
    "normal": lambda rng: rng.normal(size=(300, 3)) * (1.0, 0.1, 3.0),
    "cube": lambda rng: rng.uniform(-1, 1, (200, 3)),
    "ball": lambda rng: (lambda x: x / np.linalg.norm(x, axis=1)[:, None])(
        rng.normal(size=(90, 3))
    ),
    "few": lambda rng: rng.normal(size=(5, 3)),
    "small and far": lambda rng: 1e-3 * rng.normal(size=(50, 3)) + 0.7,
    "flat": lambda rng: rng.normal(size=(60, 2)) @ rng.normal(size=(2, 3)),
}


@pytest.mark.parametrize("make", CLOUDS.values(), ids=CLOUDS.keys())
def test_hull_corners_are_those_of_qhull(make):
    for seed in range(5):
        points = make(np.random.default_rng(seed))
        corners, cut = hull_corners(points, 10**6)
        middle = points.mean(axis=0)
        _, extents, axes = np.linalg.svd(points - middle, full_matrices=False)
        flat = (points - middle) @ axes[extents > 1e-9 * extents[0]].T
        expected = points[ConvexHull(flat).vertices]
        np.testing.assert_array_equal(np.unique(corners, axis=0), np.unique(expected, axis=0))
        assert cut == 0.0


def test_points_on_faces_and_edges_are_no_corners():
    grid = np.array(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3)).reshape(3, -1).T
    for seed in range(10):
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
        corners, _ = hull_corners(grid @ turn, 10**6)
        np.testing.assert_allclose(
            np.unique(np.round(corners @ turn.T, 9), axis=0), np.unique(CUBE, axis=0), atol=1e-9
        )


def test_a_line_has_two_ends_and_a_point_is_itself():
    line = np.outer(np.linspace(-1, 2, 7), (1.0, 2.0, 3.0))
    np.testing.assert_array_equal(hull_corners(line, 128)[0], line[[0, -1]])
    np.testing.assert_array_equal(hull_corners(np.ones((4, 3)), 128)[0], np.ones((1, 3)))


def test_a_reduced_hull_says_how_much_it_cuts_off():
    points = np.random.default_rng(1).normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    corners, cut = hull_corners(points, MAX_CORNERS)
    assert len(corners) == MAX_CORNERS
    d = directions(20000)
    missing = ((d @ points.T).max(axis=1) - (d @ corners.T).max(axis=1)).max()
    assert missing > 0.0
    np.testing.assert_allclose(cut, missing, rtol=0.15)


def write_obj(path):
    lines = ["# a box", *(f"v {x!r} {y!r} {z!r}" for x, y, z in CUBE.tolist()), "v 9 9 9"]
    path.write_text("\n".join([*lines, "f 1//1 2//1 4//1 3", "f 5/1/1 6/1/1 8/1/1 7/1/1", ""]))


def write_stl(path):
    corners = ConvexHull(CUBE).simplices
    triangles = [struct.pack("<12fH", 0, 0, 0, *CUBE[corner].ravel(), 0) for corner in corners]
    path.write_bytes(b"binary".ljust(80) + struct.pack("<I", len(triangles)) + b"".join(triangles))


def write_text_stl(path):
    corners = [CUBE[corner].tolist() for corner in ConvexHull(CUBE).simplices]
    facets = [
        "facet normal 0 0 0\n outer loop\n"
        + "".join(f"  vertex {x:e} {y:e} {z:e}\n" for x, y, z in corner)
        + " endloop\nendfacet\n"
        for corner in corners
    ]
    path.write_text("solid box\n" + "".join(facets) + "endsolid box\n")


@pytest.mark.parametrize(
    ("name", "write"), [("a.obj", write_obj), ("b.STL", write_stl), ("c.stl", write_text_stl)]
)
def test_meshes_touch_by_the_corners_of_their_hull(tmp_path, name, write):
    path, mech = tmp_path / name, one_body()
    write(path)
    collision = mech.add_collision("c", "a", Mesh(path, (0.1, 0.2, -0.3), **POSE))
    path.unlink()  # read once: copies and pickles need no file
    box = Box((0.2, 0.4, 0.6), **POSE)
    parts = contact_features(collision)
    assert len(parts) == 8
    assert len(mech.contact_names) == 8
    np.testing.assert_allclose(
        support(parts, directions()), exact(box, directions()), atol=1e-15, rtol=1e-14
    )
    assert mech.notes == []


def test_a_mesh_with_too_many_corners_is_reported(tmp_path):
    points = directions(400)
    (tmp_path / "ball.obj").write_text("".join(f"v {x} {y} {z}\n" for x, y, z in points))
    mech = one_body()
    collision = mech.add_collision("c", "a", Mesh(tmp_path / "ball.obj"))
    assert len(collision.corners) == MAX_CORNERS
    (entry,) = mech.notes
    assert (entry.action, entry.element) == ("changed", "collision 'c'")
    assert f"{MAX_CORNERS} corners" in entry.message
    assert f"{collision.cut:.3g} m" in entry.message


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="millimetre" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="12">0 0 0 1000 0 0 0 2000 0 0 0 3000</float_array>
      <technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
        <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
      <p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s">
    <node><translate>0 0 500</translate><instance_geometry url="#g"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def test_collada_files_have_their_unit_and_places_and_no_other_axes(tmp_path):
    pytest.importorskip("collada", reason="needs pycollada, which vigym requires")
    (tmp_path / "a.dae").write_text(COLLADA)
    mesh = read_mesh(tmp_path / "a.dae")
    corners = [(0.0, 0.0, 0.5), (0.0, 0.0, 3.5), (0.0, 2.0, 0.5), (1.0, 0.0, 0.5)]
    assert len(mesh.triangles) == 4
    found = sorted(map(tuple, np.unique(mesh.vertices.round(9), axis=0)))
    assert np.allclose(found, corners, rtol=1e-12)
    collision = one_body().add_collision("c", "a", Mesh(tmp_path / "a.dae"))
    assert len(collision.corners) == 4


@pytest.mark.parametrize("kind", ["ply", "glb", "stl", "obj"])
def test_every_format_gives_the_same_mesh(tmp_path, kind):
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    box.export(tmp_path / f"a.{kind}")
    mesh = read_mesh(tmp_path / f"a.{kind}")
    assert mesh.triangles.shape == (12, 3)
    assert mesh.normals.shape == mesh.vertices.shape
    assert np.allclose(np.ptp(mesh.vertices, axis=0), (0.1, 0.2, 0.3), rtol=1e-6)
    a, b, c = mesh.vertices[mesh.triangles].swapaxes(0, 1)
    assert np.einsum("ij,ij->", np.cross(b - a, c - a), a) / 6 == pytest.approx(0.006, rel=1e-6)


BAD_MESHES = {
    "no file": ("lost.obj", None, "readable file"),
    "another format": ("a.doc", b"<COLLADA/>", "'.doc', expected .obj or .stl"),
    "no Collada": ("a.dae", b"<COLLADA/>", "trimesh cannot read"),
    "empty": ("a.obj", b"", "no vertices"),
    "words": ("a.obj", b"v 1 2 x\n", "trimesh cannot read .ValueError"),
    "two numbers": ("a.obj", b"v 1 2\n", "vertices of 2 numbers, expected 3"),
    "not finite": ("a.obj", b"v 1 2 nan\nv 1 1 1\n", "not finite"),
    "face of nothing": (
        "a.obj",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
        "index 3 is out of bounds",
    ),
    "face before the mesh": (
        "a.obj",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n",
        "index -4 is out of bounds",
    ),
    "half an STL": ("a.stl", b" " * 80 + struct.pack("<I", 3) + b" " * 50, "no vertices"),
    "short STL": ("a.stl", b"abc", "no vertices"),
    "text STL without vertices": ("a.stl", b"solid a\nfacet normal 0 0 1\n", "no vertices"),
}


@pytest.mark.parametrize(("name", "data", "message"), BAD_MESHES.values(), ids=BAD_MESHES.keys())
def test_meshes_that_cannot_be_read_are_errors_that_name_the_file(tmp_path, name, data, message):
    path, mech = tmp_path / name, one_body()
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(MechanismError, match=message) as caught:
        mech.add_collision("c", "a", Mesh(path))
    assert str(path) in str(caught.value)
    assert "collision 'c'" in str(caught.value)
    assert not mech.collisions
    assert mech.ground is None

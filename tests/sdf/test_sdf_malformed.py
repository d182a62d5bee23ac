"""SDF files that cannot be read truthfully, and files of strangers."""

import re

import pytest

from scenes.sdf_pieces import DRAKE, MASS, SHAPES, SURFACE, axis, document, joint, link
from vigym import UrdfError, load_sdf

FRAMES = "".join(
    f"<frame name='{name}'><pose relative_to='{other}'/></frame>" for name, other in ("fg", "gf")
)
ATTACHED = "".join(
    f"<frame name='{name}' attached_to='{other}'><pose relative_to='a'/></frame>"
    for name, other in ("fg", "gf")
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "<include><uri>model://arm</uri></include>" + link("a"),
            "<include>: found an element that is not read, expected the links",
        ),
        ('<model name="inner"/>' + link("a"), "expected one model"),
        (
            link("a") + '<drake:joint name="j" type="planar"/>',
            "that is not read, expected a <joint>",
        ),
        (link("a", '<inertial auto="true"/>'), "auto='true', expected the mass"),
        (link("a") + link("a"), "two links named 'a'"),
        (link("a") + joint("j", "fixed", "world", "a") * 2, "two joints named 'j'"),
        (link("world"), "link 'world': found a link of this name, expected another name: SDF"),
        (link("a") + link("b"), "2 roots"),
        (
            link("a", "<pose relative_to='x'>0 0 0 0 0 0</pose>" + MASS),
            "frame 'x', expected a link",
        ),
        (
            link("a", "<pose relative_to='a'>0 0 0 0 0 0</pose>" + MASS),
            "link 'a': found frame 'a', which refers to itself, expected frames that lead",
        ),
        (
            link("a", "<pose relative_to='f'/>" + MASS) + FRAMES,
            "found frames 'f', 'g', which refer to each other",
        ),
        (
            link("a", "<pose relative_to='j'/>" + MASS) + joint("j", "revolute", "world", "a"),
            "found frames 'a', 'j', which refer to each other",
        ),
        (link("a") + FRAMES, "found frames 'f', 'g', which refer to each other"),
        (link("a") + ATTACHED, "found frames 'f', 'g', which refer to each other"),
        (
            link("a") + ATTACHED + joint("j", "revolute", "g", "a"),
            "joint 'j': found frames 'g', 'f', which refer to each other",
        ),
        (
            link("a") + "<frame name='f'/>" + joint("j", "revolute", "f", "a"),
            "<parent> 'f', expected a link, or a frame that is on a link",
        ),
        (link("a", "<pose>0 0 0 0 0</pose>" + MASS), "expected 6 finite numbers"),
        (link("a", "<pose>0 0 0 0 0 nan</pose>" + MASS), "expected 6 finite numbers"),
        (link("a", "<pose rotation_format='x'>0 0 0 0 0 0</pose>" + MASS), "rotation_format='x'"),
        (link("a", "<pose/><pose/>" + MASS), "2 <pose> elements"),
        (link("a") + joint("j", "hinge", "world", "a"), "type 'hinge', expected one of: revolute"),
        (link("a") + joint("j", "revolute", "world", "a", ""), "no <axis>"),
        (link("a") + joint("j", "revolute", "a", "world"), "the world as <parent>"),
        (link("a") + joint("j", "revolute", "x", "a"), "<parent> 'x', expected a link"),
        (
            link("a") + joint("j", "revolute", "world", "a", axis("<lower>nan</lower>")),
            "expected 1 finite number",
        ),
        (
            link("a") + joint("j", "revolute", "world", "a", axis("", "<damping>-1</damping>")),
            ">= 0",
        ),
        (
            link("a") + joint("j", "revolute2", "world", "a", axis() + axis(tag="axis2")),
            "perpendicular to the first axis",
        ),
        (link("a") + joint("j", "screw", "world", "a"), "expected one <screw_thread_pitch>"),
        (
            link("a")
            + link("b")
            + joint("j", "revolute", "world", "a")
            + joint(
                "g",
                "gearbox",
                "a",
                "b",
                axis()
                + axis(tag="axis2")
                + "<gearbox_reference_body>world</gearbox_reference_body>",
            ),
            "no hinge from 'world' to 'b'",
        ),
        ("", "0 links, expected 1 to"),
        ("<static>true</static>" + link("a"), "0 models that are not static"),
        (
            link(
                "a",
                MASS + SHAPES.replace("</collision>", SURFACE.replace("0.2", "2") + "</collision>"),
            ),
            "restitution_coefficient 2, expected",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_file_and_element(content, expected, read, file):
    with pytest.raises(UrdfError, match=re.escape(expected)) as error:
        read(content, base="floating" if "2 roots" in expected else None)
    assert str(error.value).startswith(f"{file}: ")


def test_files_of_strangers_are_refused(file):
    head = '<!DOCTYPE sdf [<!ENTITY a "b">]>'
    for text, expected in (
        (head + document(link("a")), "declaration of an entity"),
        (
            '<sdf version="1.7"><include><uri>a.sdf</uri></include></sdf>',
            "found 0 models that are not static and 1 <include> of other files, expected one in this",
        ),
        ("<a>" * 700 + "</a>" * 700, "expected at most 600"),
        ("<sdf", "invalid XML"),
        (document(link("a"), "1.1"), "version '1.1', expected 1.2"),
        (
            document(link("a")).replace(DRAKE, "").replace("<link", "<drake:x/><link", 1),
            "<sdf ...>",
        ),
        ('<urdf version="1.6"/>', "found <urdf>, expected <sdf>"),
    ):
        file.write_text(text)
        with pytest.raises(UrdfError, match=re.escape(expected)):
            load_sdf(file)

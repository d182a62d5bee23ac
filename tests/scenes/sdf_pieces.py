"""Pieces of SDF text for the tests."""

MASS = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
DRAKE = 'xmlns:drake="http://drake.mit.edu"'


def link(name, inside=MASS):
    return f'<link name="{name}">{inside}</link>'


def joint(name, type, parent, child, inside="<axis><xyz>0 1 0</xyz></axis>"):
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{type}">{ends}{inside}</joint>'


def axis(limit="", dynamics="", xyz="0 1 0", tag="axis"):
    inside = f"<xyz>{xyz}</xyz><limit>{limit}</limit><dynamics>{dynamics}</dynamics>"
    return f"<{tag}>{inside}</{tag}>"


SHAPES = "".join(
    f"<collision name='{k}'><geometry>{shape}</geometry></collision>"
    for k, shape in enumerate(
        (
            "<box><size>1 1 1</size></box>",
            "<sphere><radius>1</radius></sphere>",
            "<cylinder><radius>1</radius><length>1</length></cylinder>",
            "<capsule><radius>1</radius><length>1</length></capsule>",
            "<mesh><uri>a.stl</uri><scale>1 1 1</scale></mesh>",
        )
    )
)
SURFACE = (
    "<surface><friction><ode><mu>0.5</mu><mu2>0.4</mu2><fdir1>0 1 0</fdir1></ode></friction>"
    "<bounce><restitution_coefficient>0.2</restitution_coefficient></bounce></surface>"
)


def document(content, version="1.6"):
    model = f'<model name="r">{content}</model>'
    return f'<sdf version="{version}" {DRAKE}><world name="w">{model}</world></sdf>'

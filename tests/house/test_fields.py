"""Fields of the data model: each is explained, and kernels read them by name."""

import ast
from collections.abc import Iterator

from sources import SOURCES, Function

from vigym.core.tables.plan import HEADER
from vigym.core.tables.row_kinds import BLOCK_STARTS, ROW_KINDS

ROOMS = ("body", "joint", "loop", "tree", "contact", "solver", "kernels", "math")
KERNELS = [s for s in SOURCES if s.layer == "core" and s.path.parent.name in ROOMS]
WHOLE_STATES = {"vigym/core/kernels/float32.py"}  # copies states slot by slot between precisions
ROWS = {kind: {"index", *rows.fields} for kind, rows in ROW_KINDS.items()}
# what `d`, the data of a lane group, has
DATA = {
    "wide",
    "full",
    "number",
    "lane_count",
    "block_count",
    "dof_block_count",
    *ROW_KINDS,
    *HEADER.names,
}
DATA |= {*BLOCK_STARTS}  # not the arrays: kernels do not read `d.work[i]`
LIBRARIES = {"math", "np"}


def records() -> set[str]:
    """Return the attributes of the named tuples that kernels pass on, of arrays and of masks."""
    classes = [
        n for s in SOURCES if s.layer == "core" for n in s.nodes if isinstance(n, ast.ClassDef)
    ]
    bodies = [node for made in classes for node in made.body]
    return {
        "any",
        "all",
        "size",
        "shape",
        *(n.target.id for n in bodies if isinstance(n, ast.AnnAssign)),
    }


OTHERS = records().union(DATA, *ROWS.values())


def is_data(value: ast.expr) -> bool:
    """Return whether an expression is the data of a lane group: `d` or `d.wide`."""
    return ast.unparse(value) in ("d", "d.wide")


def kind_of(value: ast.expr) -> str | None:
    """Return the kind of row that an expression such as `d.body(i)` or `d.wide.environment` is."""
    row = value.func if isinstance(value, ast.Call) else value
    is_row = isinstance(row, ast.Attribute) and row.attr in ROWS and is_data(row.value)
    return row.attr if is_row else None


def pairs(function: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets and values of the assignments in a function, one by one."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            yield from zip(target.elts, value.elts, strict=True) if several else [(target, value)]


def undeclared(function: Function) -> Iterator[ast.Attribute]:
    """Yield the attributes that rows, or the data, do not have.

    Parameters that are rows have the name of their kind.
    """
    kinds = {argument.arg: argument.arg for argument in function.args.args if argument.arg in ROWS}
    kinds |= {
        ast.unparse(target): kind_of(value) for target, value in pairs(function) if kind_of(value)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in LIBRARIES:
            kind = kinds.get(ast.unparse(node.value)) or kind_of(node.value)
            if node.attr not in (ROWS[kind] if kind else DATA if is_data(node.value) else OTHERS):
                yield node


def test_every_field_is_explained():
    for rows in ROW_KINDS.values():
        for name, (array, field, _) in rows.fields.items():
            assert name.isidentifier()
            assert len(field.meaning.split()) > 1, f"{name}: {field.meaning}"
            assert field.width >= 1, name
            # rows of the plan are integers: numbers of rows, counts and kinds
            assert field.unit or array == "plan", f"{name}: found no unit, expected one, or '1'"


def test_undeclared_fields_are_found():
    code = """
def f(d, dof, other):
    body, n = d.body(0), d.body_count
    dof.mass = body.mass + d.wide.pose(1, 2).mass + d.nothing + other.anything
    return d.work[body.first_dof + 3] + d.wide.plan[7]
"""
    found = [ast.unparse(node) for node in undeclared(ast.parse(code).body[0])]
    arrays = ["d.wide.plan", "d.work"]
    others = ["d.nothing", "d.wide.pose(1, 2).mass", "dof.mass", "other.anything"]
    assert sorted(found) == sorted(arrays + others)


def test_kernels_read_declared_fields():
    assert [
        f"{source.at(n)} {ast.unparse(n)}"
        for source in KERNELS
        for f in source.functions()
        for n in undeclared(f)
    ] == []


def test_kernels_do_not_count_slots():
    for source in KERNELS:
        called = {ast.unparse(node.func) for node in source.nodes if isinstance(node, ast.Call)}
        assert source.name in WHOLE_STATES or not called & {"load", "store"}, source.name


def test_square_roots_are_those_of_the_compiler():
    """Python's own is an error of a negative number in plain Python, and no number of numpy's."""
    for source in KERNELS:
        found = {ast.unparse(n) for n in source.nodes if isinstance(n, ast.Attribute)}
        assert not {"math.sqrt", "np.sqrt"} & found, source.name

"""Sizes that a reader can hold: of folders, files, functions, lines and statements."""

import ast
from collections import Counter, defaultdict

import pytest
from sources import SCRIPTS, SOURCES, Function, Source, imported, sources_below

MODULES = 12  # in a folder, beside its __init__
FILE_LINES = 400
LONG_FILE_LINES = 500  # of those listed in WHOLE_CLASSES
FUNCTION_LINES = 40  # of code: blank lines, comments and the docstring are not counted
FUNCTION_LINES_OF_TESTS = 50  # scenes are lists of elements
COLUMNS = 100
COLUMNS_OF_TESTS = 120  # their code is formatted to 100; texts and docstrings may be longer
PARAMETERS = 8
NAMESAKES = 3  # modules with one basename
SHORT_FILE = 100  # lines; a shorter one that serves a single neighbour could be a part of it
# folders of tests beside those named as the package's
TEST_FOLDERS = {"laws", "twin", "oracle", "reference", "scenes", "house", "benchmarks"}
HELPER_FOLDERS = {"tests/scenes", "tests/oracle", "tests/benchmarks"}
VAGUE = {"utils", "util", "helpers", "helper", "misc", "common"}

# folder: why it may have more modules
CATALOGUES = {
    "vigym/cli": "a file for each command",
    "vigym/envs/tasks": "a file for each environment; full",
}
# file of a class that is not to be cut: why it is long
WHOLE_CLASSES = {
    "vigym/mechanism/mechanism.py": "the public class, its methods documented one by one",
    "vigym/simulation/simulator.py": "the public class, its methods documented one by one",
    "vigym/simulation/plant.py": "all calls of kernels",
    "vigym/envs/tasks/robot.py": "an environment whose docstring is its page",
}
# file and function: why it has more parameters
MANY_PARAMETERS = {
    "vigym/mechanism/mechanism.py add_joint": "public; every attribute of a joint is a keyword",
    "vigym/mechanism/mechanism.py add_spring": "public; every attribute of a spring is a keyword",
    "vigym/mechanism/mechanism.py add_contact": "public; every attribute of a contact is a keyword",
    "vigym/simulation/simulator.py __init__": "public; every option is a keyword",
    "vigym/envs/env.py __init__": "public; every option of gymnasium.make is a keyword",
    "vigym/envs/vector.py __init__": "public; every option of gymnasium.make_vec is a keyword",
    "vigym/evaluation/evaluate.py evaluate": "public; every option is a keyword",
    "vigym/cli/evaluate.py command": "click passes every option of the command",
    "vigym/cli/train.py command": "click passes every option of the command",
    "vigym/cli/compare.py command": "click passes every option of the command",
    "vigym/cli/bench.py command": "click passes every option of the command",
    "vigym/core/kernels/step.py step": "entry kernel: Python passes flat arrays",
    "vigym/core/kernels/reset.py reset": "entry kernel: Python passes flat arrays",
    "vigym/core/kernels/assemble.py assemble": "entry kernel: Python passes flat arrays",
    "vigym/core/kernels/start.py start": "entry kernel: Python passes flat arrays",
    "tests/scenes/touching_scenes.py add_five_bar": "a robot's leg: body, hips, knees, rods",
    "vigym/core/compiler/rows.py group_data": "the flat arrays of a lane group and their starts",
    "vigym/core/compiler/plain/rows.py group_data": "what it stands in for",
}
# file and target of an assignment that is left
PARALLEL = {
    ("vigym/cli/draw.py", "((x0, y0), (x1, y1))"),  # the ends of a line
    ("vigym/render/overlay/marks.py", "forces"),  # of three kinds of marks, none is there
}
# file that serves a single neighbour and is short: why it is not a part of it
SMALL_PARTS = {
    "vigym/baselines/ggl.py": "a method, as its neighbours have theirs",
    "vigym/baselines/product.py": "a method, as its neighbours have theirs",
    "vigym/baselines/sparse.py": "compiled, with an appendix of its paper for itself",
    "vigym/control/static_torques.py": "a controller's law that other controllers may use",
    "vigym/envs/zoo/legs/biped_tree.py": "edits records of a file: the task is long",
    "vigym/mechanism/writable.py": "a base of the public class, which is long",
    "vigym/render/scene/sides.py": "surfaces of one kind of element: the visuals are long",
    "vigym/simulation/state/threads.py": "threads know nothing of kernels: the calls are long",
    "vigym/simulation/failures.py": "knows of functions of the user: the plant is long",
    "vigym/simulation/parameters/mass_ratios.py": "a bound of contacts, apart from factors",
    "vigym/simulation/compile/dofs.py": "constants of one kind of row, as its neighbours have theirs",
    "vigym/wrappers/vector.py": "public: wrappers of vector environments by their former names",
}


def code_lines(source: Source, function: Function) -> int:
    """Count the lines of a function that hold code."""
    first, last = function.lineno, function.end_lineno
    lines = {n for n in range(first, last + 1) if source.lines[n - 1].strip()}
    lines -= {n for n in lines if source.lines[n - 1].lstrip().startswith("#")}
    if ast.get_docstring(function):
        lines -= set(range(function.body[0].lineno, function.body[0].end_lineno + 1))
    return len(lines)


def parameters(function: Function) -> int:
    """Count the parameters of a function, `self` with them."""
    given = function.args
    several = [given.vararg, given.kwarg]
    return len([*given.posonlyargs, *given.args, *given.kwonlyargs]) + sum(
        one is not None for one in several
    )


def leaves(target: ast.expr) -> int:
    """Count the names that a target of an assignment has, in tuples of tuples too."""
    return sum(map(leaves, target.elts)) if isinstance(target, ast.Tuple | ast.List) else 1


def parallel(node: ast.AST) -> int:
    """Count the names that a statement assigns side by side, 0 where it unpacks one value."""
    if not isinstance(node, ast.Assign):
        return 0
    several = isinstance(node.value, ast.Tuple | ast.List)
    tuples = [each for each in node.targets if isinstance(each, ast.Tuple | ast.List)]
    return max([len(node.targets), *(leaves(each) for each in tuples if several)])


@pytest.mark.parametrize(
    "code", ["(p, q), (r, s) = t, u", "p, q, r = [x, x, x]", "p, q, r = x, y, z", "a = b = c = x"]
)
def test_parallel_assignments_are_found(code: str):
    assert parallel(ast.parse(code).body[0]) > 2


@pytest.mark.parametrize("code", ["p, q = q, p", "(p, q), r = f()", "p = q = x", "p = x, y, z"])
def test_pairs_and_unpacked_values_are_left(code: str):
    assert parallel(ast.parse(code).body[0]) <= 2


def test_a_folder_is_small_enough_to_find_a_file_in():
    modules = Counter(source.folder for source in SOURCES if source.path.name != "__init__.py")
    crowded = {folder: count for folder, count in modules.items() if count > MODULES}
    assert {folder: count for folder, count in crowded.items() if folder not in CATALOGUES} == {}


def test_a_file_is_small_enough_to_see_whole():
    lengths = {source.name: len(source.lines) for source in [*SOURCES, *SCRIPTS]}
    caps = {name: LONG_FILE_LINES if name in WHOLE_CLASSES else FILE_LINES for name in lengths}
    assert {name: n for name, n in lengths.items() if n > caps[name]} == {}


def test_a_function_is_small_enough_to_see_whole():
    found = {
        f"{s.at(f)} {f.name}": code_lines(s, f) for s in [*SOURCES, *SCRIPTS] for f in s.functions()
    }
    assert {
        name: lines
        for name, lines in found.items()
        if lines > (FUNCTION_LINES_OF_TESTS if name.startswith("tests/") else FUNCTION_LINES)
    } == {}


def test_a_function_has_few_parameters():
    found = {
        f"{s.name} {f.name}": parameters(f) for s in [*SOURCES, *SCRIPTS] for f in s.functions()
    }
    assert {
        name: n for name, n in found.items() if n > PARAMETERS and name not in MANY_PARAMETERS
    } == {}


def test_a_line_fits_beside_another():
    found = {}
    for source in [*SOURCES, *SCRIPTS]:
        columns = COLUMNS_OF_TESTS if source.name.startswith("tests/") else COLUMNS
        found[source.name] = sum(len(line) > columns for line in source.lines)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_line_assigns_one_thing_or_a_pair():
    statements = [(s, node) for s in [*SOURCES, *SCRIPTS] for node in s.nodes]
    found = {(s.name, ast.unparse(node.targets[0])) for s, node in statements if parallel(node) > 2}
    assert found == PARALLEL


def test_modules_of_one_name_are_told_apart_by_their_folders():
    places = defaultdict(list)
    for source in SOURCES:
        if source.path.name != "__init__.py":
            places[source.path.stem].append(source.path.parent.name)
    assert {name for name, folders in places.items() if len(set(folders)) < len(folders)} == set()
    assert {name: folders for name, folders in places.items() if len(folders) > NAMESAKES} == {}


def test_names_of_test_files_are_unique():  # pytest imports a file by its name alone
    names = Counter(source.path.name for source in sources_below("tests"))
    tests = {name: count for name, count in names.items() if name.startswith("test_")}
    assert {name for name, count in tests.items() if count > 1} == set()


def small_parts() -> set[str]:
    """Return the short files that serve a single neighbour."""
    users = defaultdict(set)
    for source in SOURCES:
        for name in imported(source.tree, source.package):
            users[name].add(source)
            users[name.rpartition(".")[0]].add(source)
    short = {
        source
        for source in SOURCES
        if len(source.lines) < SHORT_FILE and source.path.name != "__init__.py"
    }
    single = {
        source.name
        for source in short
        if {user.folder for user in users[source.module]} == {source.folder}
    }
    return single - {source.name for source in short if len(users[source.module]) > 1}


def test_a_short_module_serves_more_than_one_neighbour():
    assert small_parts() - set(SMALL_PARTS) == set()


def test_a_file_says_what_it_is():
    for source in [*SOURCES, *SCRIPTS]:
        assert source.path.stem not in VAGUE
        assert ast.get_docstring(source.tree), f"{source.name} has no docstring"


def test_exceptions_are_still_needed():
    modules = Counter(source.folder for source in SOURCES if source.path.name != "__init__.py")
    functions = {
        f"{s.name} {f.name}"
        for s in [*SOURCES, *SCRIPTS]
        for f in s.functions()
        if parameters(f) > PARAMETERS
    }
    assert set(CATALOGUES) <= {name for name, count in modules.items() if count >= MODULES}
    assert set(SMALL_PARTS) == small_parts()
    assert set(MANY_PARAMETERS) == functions


def test_tests_lie_where_the_code_lies():
    layers = {source.layer for source in SOURCES}
    folders = {
        source.package[1]
        for source in SCRIPTS
        if source.package[0] == "tests" and source.package[1:]
    }
    assert folders - layers == TEST_FOLDERS


def test_helpers_of_tests_lie_where_tests_find_them():
    for source in sources_below("tests"):
        is_test = source.path.stem.startswith("test_") or source.path.stem == "conftest"
        assert is_test or source.folder in HELPER_FOLDERS or source.name == "tests/house/sources.py"
        assert not source.path.stem.startswith("test_") or source.folder not in HELPER_FOLDERS

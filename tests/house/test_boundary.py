"""One owner of the boundary to the file system: nobody else opens, writes, moves or unpacks."""

import ast

from sources import SOURCES, Source

OWNERS = {"vigym/files.py", "vigym/ownership.py"}
# methods and functions of any object or module, by their last name
CALLS = {
    *("open", "fdopen", "read_text", "read_bytes", "write_text", "write_bytes", "touch"),
    *("mkdir", "makedirs", "mkdtemp", "mkstemp", "rename", "unlink", "rmtree"),
    *("savefig", "imsave", "imread", "savetxt", "loadtxt", "genfromtxt", "fromfile", "tofile"),
    *("ZipFile", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "Unpickler"),
    *("write_frame", "save_replay_buffer", "load_replay_buffer", "from_checkpoint"),
}
# functions whose last name others have, too
QUALIFIED = {
    *(f"{module}.{verb}" for module in ("json", "pickle") for verb in ("load", "dump")),
    *(f"{module}.{verb}" for module in ("np", "torch") for verb in ("load", "save", "savez")),
    *(
        "pickle.loads",
        "os.replace",
        "os.remove",
        "ET.parse",
        "ElementTree.parse",
        "VecNormalize.load",
    ),
    *("shutil.move", "shutil.copy", "shutil.copyfile", "shutil.copytree"),
}
# within a block of one of these, to write what it yields
BLOCKS = {"whole_file", "whole_folder", "open_file", "open_archive"}
# file and call: why it does not pass the owner
EXCEPTIONS = {
    "vigym/captured_output.py TemporaryFile": "output of C on its way, without a name",
    "vigym/urdf/convert/cross_check.py NamedTemporaryFile": "pybullet reads by name",
    "vigym/core/compiler/cache.py TemporaryFile": "whether a folder can be written",
    "vigym/core/compiler/cache.py mkdtemp": "a folder that `private_folder` checks",
    "vigym/core/compiler/cache.py pickle.loads": "bytes of a file of `check_program`",
    "vigym/core/compiler/processes.py pickle.load": "the pipe from the process that started it",
    "vigym/envs/processes.py pickle.loads": "an error of this process, pickled a moment before",
    "vigym/evaluation/workers.py pickle.loads": "bytes from the process that started a worker",
    "vigym/evaluation/rllib.py from_checkpoint": "Ray's reader of folders",
    "vigym/evaluation/speed/startup.py TemporaryDirectory": "a cache of kernels for a moment",
    "vigym/evaluation/video.py write_frame": "to ffmpeg, whose file is that of `whole_file`",
    "vigym/mjcf/worker.py fdopen": "the pipe to the process that started it",
    "vigym/mjcf/worker.py pickle.load": "the pipe from the process that started it",
    "vigym/training/run.py mkdir": "the folder of a run",
    "vigym/training/run.py unlink": "the film of an earlier policy in that folder",
    "vigym/cli/app.py open": "/dev/null in place of a pipe that nobody reads",
}


def outside_calls(source: Source) -> set[str]:
    """Return the calls that reach for files past the owner."""
    found = set()

    def look(node: ast.AST, within: bool) -> None:
        if isinstance(node, ast.With):
            names = {name_of(item.context_expr) for item in node.items}
            within = within or bool(names & BLOCKS)
        if isinstance(node, ast.Call) and not within:
            name = ast.unparse(node.func)
            last = name.rpartition(".")[2]
            found.update({last} & CALLS, {name} & QUALIFIED)
        for child in ast.iter_child_nodes(node):
            look(child, within)

    look(source.tree, False)
    return found


def name_of(call: ast.expr) -> str:
    return call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""


def test_only_the_owner_reaches_for_files():
    for source in SOURCES:
        allowed = {line.split()[1] for line in EXCEPTIONS if line.split()[0] == source.name}
        if source.name not in OWNERS:
            assert outside_calls(source) == allowed, source.name


def test_the_owner_is_where_files_are_reached_for():
    found = {source.name: outside_calls(source) for source in SOURCES if source.name in OWNERS}
    assert {"open", "fdopen", "ZipFile", "rmtree"} < found["vigym/files.py"]
    assert "mkdir" in found["vigym/ownership.py"]

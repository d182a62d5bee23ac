"""vigym warmup: compile the kernels before somebody waits for them."""

import time
from collections.abc import Callable

import click

from vigym import assets
from vigym.cli.output import show


@click.command()
@click.option("--float32", is_flag=True, help="Those for steps of batches in single precision, too.")
def command(float32: bool) -> None:
    """Compile the kernels and keep them on disk; what is there already is loaded.

    Needed once for every machine and version: in an image of a container, or before many processes start together.
    VIGYM_CACHE_DIR says where they are kept. Trees that touch nothing have smaller kernels than all there is.
    """
    from vigym.core.compiler.kernel import cache_folder  # numba is loaded for those who ask for it

    rows = []
    kinds = [(None, "tree"), (None, "all"), (2, "tree"), (2, "all"), *([(2, "float32")] if float32 else [])]
    for batch, kind in kinds:
        for what, use in _uses(kind, batch).items():
            start = time.perf_counter()
            use()
            number = "one" if batch is None else "batch"
            rows.append([f"{number}, {kind}", what, f"{time.perf_counter() - start:.1f}"])
    folder = cache_folder()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    show("kernels", ["simulator", "kernels of", "seconds"], rows, right=[2])
    print(f"kept in {folder}, {size / 1e6:.0f} MB")


def _uses(kind: str, batch: int | None) -> dict[str, Callable[[], object]]:
    """Return calls that need every kernel of a simulator between them.

    A tree that touches nothing has kernels of its own, and none that assemble; a linkage needs those of all there is.
    """
    from vigym.simulation.simulator import Simulator
    from vigym.urdf.convert.load import load_urdf

    mech, made = load_urdf(assets.path("four_bar" if kind == "all" else "pendulum")), list[Simulator]()
    precision = "float32" if kind == "float32" else "float64"
    return {
        "assembly and reset": lambda: made.append(Simulator(mech, timestep=0.01, batch=batch, precision=precision)),
        "step": lambda: made[0].step(),
        "energy and metrics": lambda: made[0].metrics(),
        "joint forces": lambda: made[0].joint_forces,
        "state": lambda: made[0].set_state(made[0].state),
    }

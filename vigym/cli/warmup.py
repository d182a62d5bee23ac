"""Command `vigym warmup`: compilation of the kernels."""

import time
from collections.abc import Callable

import click

from vigym import assets
from vigym.cli.output import print_table


@click.command()
@click.option("--float32", is_flag=True, help="Compile single-precision batch kernels, too.")
def command(float32: bool) -> None:
    """Compile the kernels into the cache folder; compiled ones are loaded.

    This is needed once per machine and version: when a container image is built, or before many
    processes start together. The variable VIGYM_CACHE_DIR sets the folder. Trees without contacts
    have smaller kernels of their own.
    """
    from vigym.core.compiler.cache import cache_folder  # imports numba

    rows = []
    kinds = [(None, "tree"), (None, "all"), (2, "tree"), (2, "all")]
    if float32:
        kinds.append((2, "float32"))
    for batch, kind in kinds:
        for name, call in _calls(kind, batch).items():
            start = time.perf_counter()
            call()
            number = "one" if batch is None else "batch"
            rows.append([f"{number}, {kind}", name, f"{time.perf_counter() - start:.1f}"])
    print_table("kernels", ["simulator", "kernels of", "seconds"], rows, right=[2])
    folder = cache_folder()
    if folder is None:
        raise click.ClickException("warmup: the disk is full, expected space for the kernels")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"stored in {folder}, {size / 1e6:.0f} MB")


def _calls(kind: str, batch: int | None) -> dict[str, Callable[[], object]]:
    """Return calls that together need every kernel of a simulator and of pictures.

    A tree without contacts has kernels of its own, without assembly; a linkage needs the general
    ones.
    """
    from vigym.render.make import make_renderer
    from vigym.simulation.simulator import Simulator
    from vigym.urdf.convert.load import load_urdf

    mechanism = load_urdf(assets.path("four_bar" if kind == "all" else "pendulum"))
    precision = "float32" if kind == "float32" else "float64"
    made: list[Simulator] = []

    def make() -> None:
        made.append(Simulator(mechanism, timestep=0.01, batch=batch, precision=precision))

    def picture() -> None:
        bodies = mechanism.bodies.values()
        renderer = make_renderer(mechanism, "rgb_array", width=8, height=8)
        renderer.render([one.position for one in bodies], [one.orientation for one in bodies])

    return {
        "assembly and reset": make,
        "step": lambda: made[0].step(),
        "energy and metrics": lambda: made[0].metrics(),
        "joint forces": lambda: made[0].joint_forces,
        "state": lambda: made[0].set_state(made[0].state),
        "pictures": picture,
    }

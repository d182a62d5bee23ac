"""Command `vigym warmup`: compilation of the kernels."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import click
import numpy as np

from vigym import assets
from vigym.cli.output import print_table

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

Kind = tuple[str, int | None, str]  # mechanism, number of environments, precision


@click.command()
@click.option("--float32", is_flag=True, help="Compile single-precision batch kernels, too.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Compile those of terrain, prescribed motions, and joints of curves and surfaces, too.",
)
def command(float32: bool, everything: bool) -> None:
    """Compile the kernels into the cache folder; compiled ones are loaded.

    This is needed once per machine and version: when a container image is built, or before many
    processes start together. The variable VIGYM_CACHE_DIR sets the folder. Kernels have what a
    mechanism needs: there are some for trees that touch nothing, for mechanisms with loops, and for
    those with contacts, each for one environment and for batches.
    """
    from vigym.core.compiler import COMPILES

    if not COMPILES:
        raise click.ClickException("warmup: found VIGYM_COMPILE=0, expected compiled kernels")
    from vigym.core.compiler.cache import cache_folder  # imports numba

    mechanisms = _mechanisms(everything)
    kinds: list[Kind] = [(name, batch, "float64") for name in mechanisms for batch in (None, 2)]
    if float32:
        kinds.append(("trees", 2, "float32"))
    rows = []
    for (name, batch, precision), seconds in zip(kinds, _compile(kinds), strict=True):
        number = "one" if batch is None else "batch"
        simulator = number if precision == "float64" else f"{number}, {precision}"
        rows.append([name, simulator, f"{seconds:.1f}"])
    rows.append(_pictures_row(mechanisms["trees"]))
    print_table("kernels", ["kernels of", "simulator", "seconds"], rows, right=[2])
    folder = cache_folder()
    if folder is None:
        raise click.ClickException(
            "warmup: found no folder for kernels, expected a safe one with space"
        )
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"stored in {folder}, {size / 1e6:.0f} MB")


def _mechanisms(everything: bool) -> "dict[str, Mechanism]":
    """Return a mechanism for every set of kernels, by the purpose of the set.

    A tree has limits, so that it needs the kernel of starts; all others have a loop, too, so that
    they need the kernel that closes loops.
    """
    from vigym.mechanism.elements.bodies import Ground
    from vigym.mechanism.elements.ground.terrain import Terrain
    from vigym.urdf.convert.load import load_urdf

    def linkage(ground: Ground | None) -> "Mechanism":
        made = load_urdf(assets.path("four_bar"), ground=ground)
        if ground is not None:
            made.add_contact("point", "rocker", position=(0.0, 0.0, 0.0))
        return made

    mechanisms = {
        "trees": load_urdf(assets.path("cartpole")),
        "loops": linkage(None),
        "contacts": linkage(Ground(height=-5.0)),
    }
    if everything:
        flat = Terrain(np.full((3, 3), -5.0), cell=5.0, origin=np.array([-5.0, -5.0]))
        mechanisms["terrain, motions, curves"] = linkage(Ground(terrain=flat))
    return mechanisms


def _compile(kinds: "list[Kind]") -> list[float]:
    """Compile the kernels of several kinds, side by side where there are several processors.

    Returns:
        Time [s] of each kind.
    """
    from vigym.core.compiler.processes import compile_alone, processor_count

    processors = processor_count()
    if processors > 1:
        spawn = multiprocessing.get_context("spawn")
        busy = compile_alone if processors <= len(kinds) else None
        with ProcessPoolExecutor(min(processors, len(kinds)), spawn, busy) as pool:
            seconds = [*pool.map(_seconds, kinds[::-1])][::-1]  # the longest begin
        for kind in kinds:  # loads what the processes compiled
            _seconds(kind)
        return seconds
    return [_seconds(kind) for kind in kinds]


def _seconds(kind: "Kind") -> float:
    """Call the kernels of a kind; return the time [s] that takes."""
    name, batch, precision = kind
    start = time.perf_counter()
    _call_kernels(_mechanisms(True)[name], batch, precision)
    return time.perf_counter() - start


def _call_kernels(mechanism: "Mechanism", batch: int | None, precision: str) -> None:
    """Call every kernel of a simulator."""
    from vigym.simulation.simulator import Simulator

    sim = Simulator(mechanism, timestep=0.01, batch=batch, precision=precision)
    sim.step()
    sim.metrics()
    sim.joint_forces()
    sim.set_state(sim.state)


def _pictures_row(mechanism: "Mechanism") -> list[str]:
    """Draw a picture; return the row of its kernels."""
    from vigym.render.make import make_renderer

    start = time.perf_counter()
    bodies = mechanism.bodies.values()
    renderer = make_renderer(mechanism, "rgb_array", width=8, height=8)
    renderer.render([one.position for one in bodies], [one.orientation for one in bodies])
    return ["pictures", "", f"{time.perf_counter() - start:.1f}"]

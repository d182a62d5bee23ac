"""Command `vigym export`: the policy of a run as files that run no code."""

from importlib.util import find_spec
from pathlib import Path

import click

from vigym.cli.output import check_file, check_folder, overwrite_option, print_table, spinner
from vigym.cli.train import require_libraries
from vigym.policies.network import ENDING
from vigym.policies.onnx_model import write_onnx


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--out", metavar="F", help="File to write.  [default: NAME.safetensors of the id]")
@click.option(
    "-n",
    "--episodes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Fresh episodes for the returns of the card.",
)
@click.option(
    "--onnx", metavar="F", help="Write the policy as an ONNX model for other programs, too."
)
@overwrite_option
def command(run: Path, out: str | None, episodes: int, onnx: str | None) -> int:
    """Write the best policy of a finished RUN of vigym train as NAME.safetensors and NAME.json.

    The first file has the weights, the second one, the card, the recipe, the seeds and the returns.
    Reading them runs no code, unlike model.zip, and needs numpy alone. The policy consists of dense
    layers on a vector of observations.

    \b
    vigym export runs/Pendulum-v0-seed0 --out mine.safetensors
    vigym evaluate vigym/Pendulum-v0 -c mine.safetensors
    vigym export runs/Pendulum-v0-seed0 --onnx mine.onnx

    RUN itself is read with pickle, which can run code: export only runs that you trust.
    """  # noqa: D301
    check_folder(run, "RUN")
    require_libraries()
    from vigym.training.checkpoints import read_configuration
    from vigym.training.export import export

    name = read_configuration(run).get("env_id", "policy").rpartition("/")[2]
    file = out or f"{name}{ENDING}"
    check_file(file, "--out", (ENDING,))
    check_file(str(Path(file).with_suffix(".json")), "--out")
    check_file(onnx, "--onnx", (".onnx",))
    if onnx and find_spec("onnx") is None:
        raise click.UsageError("--onnx: the package onnx is missing; pip install 'vigym[onnx]'")
    with spinner(f"{episodes} episodes"):
        network = export(run, Path(file), episodes)
        if onnx:
            write_onnx(network, Path(onnx))
    figures = network.card["evaluation"]
    rows = [[key.replace("_", " "), f"{figures[key]}"] for key in figures]
    print_table(f"{network.card['env_id']}, {network.sizes} units", ["quantity", "value"], rows)
    print(f"policy {file}, card {Path(file).with_suffix('.json')}{f', ONNX {onnx}' * bool(onnx)}")
    return 0

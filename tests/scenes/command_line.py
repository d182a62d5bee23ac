"""Commands as a person gives them, and the tables they print."""

from vigym.cli.app import run


def said(capsys, *arguments):
    """Run a command that has to go well; return what it printed."""
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def table(out, title):
    """Return the rows of a table as lists of cells, by the title above it."""
    lines = out[out.index(title) :].splitlines()[3:]
    rows = lines[: lines.index("")] if "" in lines else lines
    return [[cell for cell in line.strip().split("  ") if cell] for line in rows]

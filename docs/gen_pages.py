"""Pages of the site that are made when it is built: hooks of mkdocs, named in `mkdocs.yml`.

Files of the repository that are pages as they are (`PAGES`), a page for each environment (what
`vigym describe ID` prints), and tables in place of marks such as `<!-- controllers -->`.
"""

import json
import posixpath
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the checkout's own package, installed or not

app = import_module("vigym.cli.app").app
BUILTIN = import_module("vigym.evaluation.builtin").BUILTIN
ENVIRONMENTS = import_module("vigym.envs.registry").ENVIRONMENTS
TABLES = import_module("vigym.evaluation.tables")
SHIPPED = import_module("vigym.policies.shipped")

# file of the repository, or one section of it: its page
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "train/results.md": "results.md",
    "tests/benchmarks/RESULTS.md": "benchmarks.md",
    "vigym/core/README.md#papers": "papers.md",
    "vigym/core/README.md#notation": "notation.md",
}
COLUMNS = 3  # of the table of pictures
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
# a link or a picture, but for addresses and places of the same page: "[" or "![", text, file, anchor
LINK = re.compile(r"(!?\[)([^\]]*)\]\((?!https?:|#)([^)#\s]*)(#[^)\s]*)?\)")


def name_of(env_id: str) -> str:
    """Return the name of an environment's page and picture."""
    return env_id.removeprefix("vigym/")


def task_file(entry: Any) -> str:
    """Return the file of an environment's task, whose docstring is its page."""
    return entry.task.partition(":")[0].replace(".", "/") + ".py"


def run_command(*arguments: str) -> str:
    """Return what a command of `vigym` prints.

    Raises:
        RuntimeError: it failed.
    """
    done = CliRunner().invoke(app, arguments, prog_name="vigym")
    if done.exit_code:
        raise RuntimeError(f"vigym {' '.join(arguments)}: {done.output}") from done.exception
    return done.stdout


def environment_page(env_id: str) -> str:
    """Return the page of an environment, with its moving picture below the title."""
    title, _, text = run_command("describe", env_id).partition("\n")
    name = name_of(env_id)
    picture = f"![{name} in motion](../pictures/{name}.webp)"
    return f"{title}\n\n{picture}\n{trained_line(env_id)}{text}"


def trained_line(env_id: str) -> str:
    """Return what a page says of the policy that comes with the package; "" without one."""
    if env_id not in SHIPPED.shipped_ids():
        return ""
    card = SHIPPED.load_policy(env_id).card
    steps, scores = card["training"]["control_steps"], card["evaluation"]
    return (
        "\nThis is the [trained policy](../training.md#trained-policies) that comes with vigym, "
        f"`vigym record {env_id} -c trained`: a return of {scores['mean_return']:.4g} after "
        f"{steps:,} control steps of training.\n"
    )


def notebook_page(file: Path) -> str:
    """Return the cells of a notebook as a page, with a link to the file."""
    parts = []
    for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    title, *rest = parts
    link = f'<a href="../{file.name}" download>The notebook as a file</a>'
    return "\n\n".join([title, link, *rest])


def section(text: str, title: str) -> str:
    """Return a section of a page as a page of its own."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE | re.I)
    if found is None:
        raise ValueError(f"found no section {title!r}")
    return f"# {title.capitalize()}\n{found[1]}"


def generated() -> dict[str, str]:
    """Return the pages that are not in this folder, by their names."""
    pages = {}
    for source, page in PAGES.items():
        file, _, title = source.partition("#")
        text = (ROOT / file).read_text(encoding="utf-8")
        pages[page] = section(text, title) if title else text
    for entry in ENVIRONMENTS:
        pages[f"environments/{name_of(entry.id)}.md"] = environment_page(entry.id)
    for file in NOTEBOOKS:
        pages[f"notebooks/{file.stem}.md"] = notebook_page(file)
    return pages


def gallery() -> str:
    """Return a table of the pictures of all environments, each with a link to its page."""
    cells = []
    for name in (name_of(entry.id) for entry in ENVIRONMENTS):
        picture = f"![{name}](pictures/{name}.webp){{ width=220 }}"
        cells.append(f"[{picture}<br>{name}](environments/{name}.md)")
    rows = [cells[first : first + COLUMNS] for first in range(0, len(cells), COLUMNS)]
    head = "| " * COLUMNS + "|\n" + "|---" * COLUMNS + "|"
    return "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows)])


def controllers() -> str:
    """Return the table of the controllers that have a name."""
    rows = ["| name | does | environments | parameters |", "|---|---|---|---|"]
    pages = {entry.id for entry in ENVIRONMENTS}  # earlier versions have none
    for entry in BUILTIN.values():
        names = [name_of(one) for one in entry.ids if one in pages]
        links = [f"[{name}](environments/{name}.md)" for name in names]
        parameters = ", ".join(f"`{name}`" for name in entry.parameters or ())
        where = ", ".join(links) or "all"
        rows.append(f"| `{entry.name}` | {entry.summary} | {where} | {parameters} |")
    return "\n".join(rows)


def command_help(name: str) -> str:
    """Return the help of a command, or of `vigym` itself, as a block of text."""
    text = run_command(*([] if name == "vigym" else [name]), "--help")
    return f"```text\n{text.rstrip()}\n```"


def fill_marks(text: str) -> str:
    """Replace the marks of a page by what they stand for."""
    text = re.sub(r"<!-- help: (\w+) -->", lambda mark: command_help(mark[1]), text)
    if "<!-- gallery -->" in text:
        text = text.replace("<!-- gallery -->", gallery())
    if "<!-- controllers -->" in text:
        text = text.replace("<!-- controllers -->", controllers())
    if "<!-- trained -->" in text:
        text = text.replace("<!-- trained -->", trained())
    return text


def trained() -> str:
    """Return the table of the policies that come with the package, from their cards."""
    head = "| environment | seed | control steps | return | lowest, highest | success |"
    lines = [head, "|---|---|---|---|---|---|"]
    for entry in ENVIRONMENTS:
        if entry.id not in SHIPPED.shipped_ids():
            continue
        card = SHIPPED.load_policy(entry.id).card
        training, scores = card["training"], card["evaluation"]
        returns = TABLES.with_deviation(scores["mean_return"], scores["return_deviation"], ".1f")
        ends = f"{scores['lowest_return']:.1f}, {scores['highest_return']:.1f}"
        rate = scores["success_rate"]
        success = "" if rate is None else f"{100.0 * rate:.0f} %"
        link = f"[{name_of(entry.id)}](environments/{name_of(entry.id)}.md)"
        cells = (link, training["seed"], training["control_steps"], returns, ends, success)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def page_of(target: str, anchor: str) -> str | None:
    """Return the page, or other file of the site, for a file of the repository; None: it has none."""
    pages = dict(PAGES)
    pages |= {task_file(one): f"environments/{name_of(one.id)}.md" for one in ENVIRONMENTS}
    pages |= {f"docs/notebooks/{one.name}": f"notebooks/{one.stem}.md" for one in NOTEBOOKS}
    if target + anchor in pages:
        return pages[target + anchor]
    if target in pages:
        return pages[target] + anchor
    return target.removeprefix("docs/") + anchor if target.startswith("docs/") else None


def with_links(text: str, source: str, page: str) -> str:
    """Turn links to files of the repository into links to pages; those without a page become text.

    Args:
        text: of the page.
        source: file of the repository that the text comes from.
        page: its name.
    """

    def link(found: re.Match[str]) -> str:
        start, shown, file, anchor = found.groups("")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), file))
        place = page_of(target, anchor)
        if place is None:
            return shown
        return f"{start}{shown}]({posixpath.relpath(place, posixpath.dirname(page) or '.')})"

    return LINK.sub(link, text)


def on_config(config: Any) -> Any:
    """List the pages of the environments in the menu."""
    for part in config.nav:
        for pages in part.values():
            if "environments.md" in pages:
                names = [name_of(entry.id) for entry in ENVIRONMENTS]
                at = pages.index("environments.md") + 1
                pages[at:at] = [{name: f"environments/{name}.md"} for name in names]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    file = import_module("mkdocs.structure.files").File
    for page, text in generated().items():
        files.append(file.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the text of a page with its links and tables."""
    name = page.file.src_uri
    sources = {there: source.partition("#")[0] for source, there in PAGES.items()}
    return fill_marks(with_links(markdown, sources.get(name, f"docs/{name}"), name))

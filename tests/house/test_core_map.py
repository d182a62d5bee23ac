"""The core's own map, `vigym/core/README.md`: its table of rooms has every module."""

import re

from sources import ROOT

CORE = ROOT / "vigym" / "core"


def test_the_table_has_every_module_once():
    text = (CORE / "README.md").read_text(encoding="utf-8")
    table = text.partition("| room | module | content |")[2].partition("\n## ")[0]
    room, listed = "", []
    for row in re.findall(r"^\| (?:`(\w+)` )?\| (.+?) \|", table, re.MULTILINE):
        room = row[0] or room
        listed += [f"{room}/{module}" for module in re.findall(r"`([\w/]+)`", row[1])]
    files = [path.relative_to(CORE) for path in CORE.rglob("*.py") if path.stem != "__init__"]
    assert sorted(listed) == sorted(path.with_suffix("").as_posix() for path in files)

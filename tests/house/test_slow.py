"""The list of slow tests names tests that exist."""

import re

from sources import ROOT, Source

LISTED = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()


def test_slow_tests_exist():
    functions = {}
    for name in LISTED:
        file, function = re.fullmatch(r"(tests/\S+\.py)::(\w+).*", name).groups()
        if file not in functions:
            functions[file] = {node.name for node in Source(ROOT / file).functions()}
        assert function in functions[file], name


def test_the_list_is_sorted():
    assert sorted(set(LISTED)) == LISTED

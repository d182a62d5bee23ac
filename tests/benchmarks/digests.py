"""Prove that a refactoring changes no behaviour: digests of what scenes do, bit for bit.

    python tests/benchmarks/digests.py record digests.json
    python tests/benchmarks/digests.py compare digests.json --only loops/ contact/

`record` plays many scenes through the public interface and writes a digest of each quantity that
they read. `compare` plays them again, with other code, and prints every entry that differs. The
digests belong to one machine and one set of installed packages. Scenes are grouped: plain/ (open
trees that touch nothing), loops/, contact/, pairs/, float32/, env/ and urdf/. Exit codes: 0 when
nothing differs, 1 when something does or a scene fails, 2 when asked wrongly.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums in one order

import argparse
import json
import sys
import time
import traceback
from pathlib import Path

from digest_environments import list_environments, list_robots
from digest_ledger import Ledger, describe_difference
from digest_scenes import list_scenes


def choose_scenes(parser, prefixes):
    """Return name -> what fills a ledger, of the scenes that begin with one of the prefixes."""
    scenes = {**list_scenes(), **list_environments(), **list_robots()}
    for prefix in prefixes or ():
        if not any(name.startswith(prefix) for name in scenes):
            parser.error(f"--only: found {prefix!r}, with which no scene begins")
    wanted = tuple(prefixes or ("",))
    return {name: play for name, play in scenes.items() if name.startswith(wanted)}


def play_scenes(scenes):
    """Return the entries of all scenes, and the names of those that failed; tell the progress."""
    entries = {}
    failed = []
    for name, play in scenes.items():
        started = time.perf_counter()
        ledger = Ledger()
        try:
            play(ledger)
        except Exception as error:
            traceback.print_exc()
            ledger.add_text("error", f"{type(error).__name__}: {error}")
            failed.append(name)
        found = ledger.entries()
        entries.update({f"{name} {quantity}": entry for quantity, entry in found.items()})
        print(f"{name} {time.perf_counter() - started:.2f}", flush=True)
    return entries, failed


def record(path, scenes):
    """Play scenes and write their digests; return the exit code."""
    entries, failed = play_scenes(scenes)
    path.write_text(json.dumps(entries, indent=0, sort_keys=True) + "\n")
    print(f"recorded {len(entries)} entries of {len(scenes)} scenes; {len(failed)} failed")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed else 0


def compare(recorded, scenes, complete):
    """Play scenes, print what differs from what was recorded, and return the exit code.

    Args:
        recorded: entries by name.
        scenes: those that are played.
        complete: whether these are all, so that recorded ones that are not there are gone.
    """
    entries, failed = play_scenes(scenes)
    known = {key for key in recorded if complete or key.split(" ")[0] in scenes}
    differing = 0
    for key in sorted(known | entries.keys()):
        old = recorded.get(key)
        new = entries.get(key)
        if old is None or new is None or old["digest"] != new["digest"]:
            differing += 1
            print(f"{key} {describe_difference(old, new)}")
    compared = f"compared {len(known | entries.keys())} entries of {len(scenes)} scenes"
    print(f"{compared}; {differing} differ, {len(failed)} scenes failed")
    return 1 if differing or failed else 0


def read_entries(parser, path):
    """Return the recorded entries of a file; what is none is a usage error."""
    try:
        entries = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        parser.error(f"{path}: {error}")
    if not isinstance(entries, dict):
        parser.error(f"{path}: found no digests")
    return entries


def main(arguments=None):
    """Do what the command line asks for and return the exit code."""
    summary, _, details = __doc__.partition("\n")
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=summary, epilog=details, formatter_class=form)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="scenes that begin so")
    given = parser.parse_args(arguments)
    scenes = choose_scenes(parser, given.only)
    if given.action == "record":
        if not given.file.absolute().parent.is_dir():
            parser.error(f"{given.file}: its folder is not there")
        return record(given.file, scenes)
    recorded = read_entries(parser, given.file)
    return compare(recorded, scenes, given.only is None)


if __name__ == "__main__":
    sys.exit(main())

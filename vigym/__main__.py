"""The command line: `vigym`, or `python -m vigym`."""

import sys
from importlib.util import find_spec
from io import TextIOWrapper

NEEDED = ("click", "rich")


def main() -> int:
    """Run the command line and return its exit code: 0 success, 1 error, 2 usage error."""
    if isinstance(sys.stdout, TextIOWrapper):  # ASCII has no ±; print the results nevertheless
        sys.stdout.reconfigure(errors="replace")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        found = " and ".join(missing)
        mend = f"pip install {' '.join(missing)} (vigym's extra [cli] has all that commands need)"
        print(f"vigym: found no {found}, which the command line needs: {mend}", file=sys.stderr)
        return 1
    from vigym.cli.app import run

    return run()


if __name__ == "__main__":
    sys.exit(main())

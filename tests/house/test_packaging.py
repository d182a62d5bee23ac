"""What is shipped: the wheel's content, the installed assets, and a light `import vigym`."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import vigym

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    "pybullet",
    "trimesh",
    "numba",
    "llvmlite",
    "torch",
    "stable_baselines3",
    "matplotlib",
    "moviepy",
    "scipy",
)
HEAVY = (*LIBRARIES, "vigym.core", "vigym.mechanism", "vigym.simulation")


def run_python(code: str, cwd: Path, path: Path | None = None) -> str:
    """Run a program in a new interpreter that looks for packages in `path` first."""
    search = f"import sys; sys.path.insert(0, {str(path)!r})\n" if path else ""
    done = subprocess.run(
        [sys.executable, "-c", search + code], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("vigym-*.whl")
    return built


def test_the_wheel_carries_every_asset_unchanged(wheel: Path) -> None:
    assets = [path for path in (ROOT / "assets").rglob("*") if path.is_file()]
    assert any(path.suffix == ".urdf" for path in assets)
    with zipfile.ZipFile(wheel) as archive:
        for path in assets:
            assert (
                archive.read(f"vigym/_assets/{path.relative_to(ROOT / 'assets').as_posix()}")
                == path.read_bytes()
            )


def test_the_wheel_carries_the_package_and_nothing_else(wheel: Path) -> None:
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "vigym").rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert sources | {"vigym/py.typed"} <= names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"vigym"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_brings_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert archive.read(name).decode().split() == [
            "[console_scripts]",
            "vigym",
            "=",
            "vigym.__main__:main",
        ]


def test_an_unpacked_wheel_finds_its_own_assets(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    found = run_python(
        "import vigym.assets; print(vigym.assets.path('pendulum'))", tmp_path, tmp_path / "site"
    )
    assert Path(found).is_relative_to(tmp_path / "site")
    assert Path(found).read_bytes() == (ROOT / "assets/pendulum/pendulum.urdf").read_bytes()


def test_import_is_light(tmp_path: Path) -> None:
    code = f"import sys, vigym; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run_python(code, tmp_path) == "[]"


def test_import_registers_the_environments(tmp_path: Path) -> None:
    found = "any(name.startswith('vigym/') for name in gymnasium.registry)"
    code = f"import gymnasium, vigym; print({found})"
    assert run_python(code, tmp_path) == "True"


def test_every_public_name_is_there(tmp_path: Path) -> None:
    found = "all(getattr(vigym, name) and name in dir(vigym) for name in vigym.__all__)"
    code = f"import vigym; print({found})"
    assert run_python(code, tmp_path) == "True"


def test_the_namespace_is_clean(tmp_path: Path) -> None:
    code = "import vigym; print(dir(vigym) == sorted(vigym.__all__))"
    assert run_python(code, tmp_path) == "True"


@pytest.mark.parametrize(
    "name",
    [
        "assets.path",
        "control.lqr.lqr",
        "control.minitaur_gaits.trot",
        "wrappers.EnergyReward",
        "wrappers.vector.EnergyReward",
    ],
)
def test_parts_are_there_after_the_import(name: str, tmp_path: Path) -> None:
    assert run_python(f"import vigym; print(callable(vigym.{name}))", tmp_path) == "True"


def test_every_controller_can_be_found() -> None:
    files = (ROOT / "vigym" / "control").glob("[!_]*.py")
    assert vigym.control.__all__ == sorted(file.stem for file in files) == dir(vigym.control)
    for package in (vigym.control, vigym.wrappers):
        with pytest.raises(
            AttributeError, match=f"module '{package.__name__}' has no attribute 'n'"
        ):
            package.n  # noqa: B018


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Mechanisn'"):
        vigym.Mechanisn  # noqa: B018


def test_the_installed_version_is_the_package_s_own() -> None:
    from importlib.metadata import version

    assert vigym.__version__ == version("vigym")


def test_the_changelog_has_versions_with_dates_and_the_newest_is_that_of_the_package() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    dated = [line for line in headings if line != "Unreleased"]
    assert headings in (dated, ["Unreleased", *dated])
    versions = [re.fullmatch(r"(\d+)\.(\d+)\.(\d+) - (\d{4}-\d\d-\d\d)", line) for line in dated]
    assert all(versions)
    dates = [version[4] for version in versions if version]
    assert dates == sorted(dates, reverse=True)
    newest = dated[0].partition(" ")[0]
    assert newest == vigym.__version__
    assert f"\nversion: {newest}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")

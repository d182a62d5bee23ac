"""Files of runs that were cut or are missing: they are left out, or named before training begins."""

import json
import re

import pytest

pytest.importorskip("stable_baselines3", reason="needs vigym[train]")

from stable_baselines3.common import base_class
from stable_baselines3.common.callbacks import BaseCallback

from vigym.cli.app import run
from vigym.files import write_file
from vigym.training import checkpoints
from vigym.training.checkpoints import read_configuration, read_curve

PENDULUM = "vigym/Pendulum-v0"
CURVE = "steps,return\n2048,-3.5\n4096,-2.25\n"
ROWS = [(2048, -3.5), (4096, -2.25)]


class Silent(BaseCallback):
    """Stand-in for the bar of a training."""

    def _on_step(self):
        return True


def train(out, *arguments):
    """Train SAC for a moment; return the exit code."""
    few = ("--episodes", "2", "--no-video", "--out", str(out))
    return run(["train", PENDULUM, *few, *arguments])


@pytest.fixture
def begin(tmp_path):
    """Start a run of SAC below ``tmp_path``."""
    sac = ("--algo", "sac", "--timesteps", "1024", "-P", "learning_starts=512")

    def begin():
        return train(tmp_path, *sac, "-P", "gradient_steps=1", "-P", "buffer_size=5000")

    return begin


@pytest.fixture
def resume(tmp_path, capsys):
    """Resume the run below ``tmp_path``, which fails; return its error, a line."""

    def resume(code=1):
        capsys.readouterr()
        assert train(tmp_path, "--timesteps", "1152", "--resume") == code
        lines = capsys.readouterr().err.splitlines()
        return next(line for line in lines if line.startswith("vigym"))

    return resume


def test_damaged_files_of_a_run_are_named_before_it_goes_on(tmp_path, begin, resume):
    assert begin() == 0
    replay, curve = tmp_path / "replay.pkl", tmp_path / "curve.csv"
    configuration, rows = tmp_path / "config.json", curve.read_text()
    assert rows.count("\n") == len(read_curve(curve)) + 1 > 1
    curve.write_text(rows + "1152,x\n")
    line = f"line {rows.count(chr(10)) + 1}"
    assert resume() == (
        f"vigym: {curve}, {line}: found '1152,x', expected two numbers, the steps and the mean return"
    )
    data = replay.read_bytes()
    expected = "expected the replay buffer of the run; train in another folder"
    for kept, error in ((len(data) // 2, "UnpicklingError: pickle data was"), (0, "EOFError: Ran")):
        curve.write_text(rows + "115")  # cut while it was written: no error of its own
        replay.write_bytes(data[:kept])
        said = resume()
        assert said.startswith(f"vigym: {replay}: found a damaged file ({error}")
        assert said.endswith(expected)
    replay.unlink()
    assert (
        resume()
        == f"vigym: {replay}: found no readable file (No such file or directory), {expected}"
    )
    replay.write_bytes(data)
    text = configuration.read_text()
    configuration.write_text(text[:20])
    said = resume()
    assert said.startswith(f"vigym: {configuration}: found no JSON (Unterminated string")
    assert said.endswith("), expected a JSON object, as vigym train writes it")
    configuration.write_text(text)
    assert train(tmp_path, "--timesteps", "1152", "--resume") == 0
    assert curve.read_text().startswith(rows)
    assert [steps for steps, _ in read_curve(curve)][-3:] == [1024, 1088, 1152]


def test_a_run_that_ends_within_a_checkpoint_can_be_resumed(tmp_path, begin, resume, monkeypatch):
    """The first has its replay buffer, whenever the process ends."""

    def end(*given):
        raise KeyboardInterrupt

    # a bar that nobody stops would go on in the output of other tests
    monkeypatch.setattr(base_class, "ProgressBarCallback", Silent)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "save", end)
        assert begin() == 130
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_file", end)  # no configuration either
        assert begin() == 130
    with monkeypatch.context() as patch:
        saved, save = [], checkpoints.save

        def end_at_the_third(*given):  # after the first checkpoint
            saved.append(given)
            return end() if len(saved) == 3 else save(*given)

        patch.setattr(checkpoints, "save", end_at_the_third)
        assert begin() == 130
    assert len(checkpoints.checkpoints(tmp_path)) == 1
    assert train(tmp_path, "--timesteps", "1152", "--resume") == 0


@pytest.mark.parametrize("kept", range(len(CURVE)))
def test_a_curve_that_was_cut_has_the_rows_that_are_whole(tmp_path, kept):
    file = tmp_path / "curve.csv"
    file.write_text(CURVE[:kept])
    assert read_curve(file) == ROWS[: max(0, CURVE[:kept].count("\n") - 1)]


def test_curves_are_read_as_they_were_written(tmp_path):
    file = tmp_path / "curve.csv"
    assert read_curve(file) == []
    for end in ("\n", "\r\n"):  # the second of earlier versions
        file.write_text(CURVE, newline=end)
        assert read_curve(file) == ROWS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("steps,returns\n1,2\n", "line 1: found 'steps,returns', expected 'steps,return'"),
        ("2048,-3.5", "line 1: found '2048,-3.5', expected 'steps,return'"),
        ("\0" * 4, "line 1: found '\\x00\\x00\\x00\\x00', expected 'steps,return'"),
        ("steps,return\n2048,\n4096,1.0\n", "line 2: found '2048,', expected two numbers"),
        ("steps,return\n2048,1.0\n4096\n", "line 3: found '4096', expected two numbers"),
    ],
)
def test_other_damage_of_a_curve_is_an_error(tmp_path, text, found):
    file = tmp_path / "curve.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{file}, {found}")):
        read_curve(file)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ": found no JSON (Expecting value"),
        ("{", ": found no JSON (Expecting property name"),
        ("[1]", ": found a list, expected a JSON object"),
        ('{"seed": "1"}', ", 'seed': found '1', expected a whole number"),
        ('{"options": null}', ", 'options': found None, expected a dictionary"),
        ('{"algo": 3}', ", 'algo': found 3, expected a name"),
    ],
)
def test_a_damaged_configuration_is_named(tmp_path, text, found):
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{file}{found}")):
        read_configuration(tmp_path)


def test_text_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "config.json"
    write_file(file, json.dumps({"seed": 1}))
    with pytest.raises(UnicodeEncodeError):
        write_file(file, "{" * 100_000 + "\ud800")  # the last letter cannot be written
    assert read_configuration(tmp_path) == {"seed": 1}

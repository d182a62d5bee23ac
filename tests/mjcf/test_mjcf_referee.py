"""`vigym compare FILE --with mujoco`: one file in both simulators, side by side."""

import json

import pytest

pytest.importorskip("mujoco")

from vigym.cli.app import run  # noqa: E402
from vigym.mechanism.elements.errors import MechanismError  # noqa: E402
from vigym.referee import compare_with_mujoco  # noqa: E402

# a pendulum on two rods: its loop is open by what MuJoCo's constraints give way
LOOP = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body name="left">
      <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 -0.5" size="0.02"/>
      <body name="bar" pos="0.1 0 -0.5">
        <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.05"/>
        <body name="right" pos="0.4 0 0.1">
          <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02"/>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><connect body1="right" body2="world" anchor="0 0 0.4"/></equality>
  <contact><exclude body1="left" body2="right"/></contact>
</mujoco>
"""


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.xml"
    path.write_text(LOOP)
    return path


def test_both_simulators_move_alike_and_only_one_keeps_loops_closed(loop):
    fine, coarse, other, own = compare_with_mujoco(loop, 0.004, 0.4)
    assert [side.name for side in (fine, coarse, other, own)] == ["vigym"] * 2 + ["mujoco"] * 2
    assert [side.timestep for side in (fine, coarse, other, own)] == [0.002, 0.004, 0.004, 0.001]
    assert max(fine.gap, coarse.gap) < 1e-9
    assert min(other.gap, own.gap) > 1e-6
    assert fine.places.shape == (101, 3, 3)
    assert coarse.distances(fine)[-1] < 1e-4
    # the stiffer its loop is, the nearer MuJoCo comes
    soft = own.distances(fine)[-1]
    assert soft < 2e-3
    loop.write_text(LOOP.replace("anchor", 'solref="0.004 1" solimp="0.999 0.9999 0.0001" anchor'))
    fine, *_, own = compare_with_mujoco(loop, 0.004, 0.4)
    assert own.distances(fine)[-1] < 0.3 * soft
    with pytest.raises(MechanismError, match=r"timestep: found 0.1 s, expected at most 0.04"):
        compare_with_mujoco(loop, 0.1, 0.4)


def test_the_command_prints_and_writes_both(loop, capsys):
    line = ["compare", str(loop), "--with", "mujoco", "--timestep", "0.01", "--seconds", "0.2"]
    assert run(line) == 0
    said = capsys.readouterr().out
    assert said.count("mujoco") == 2
    assert "gap of loops" in said
    assert run([*line, "--json", "-"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [each["simulator"] for each in runs] == ["vigym", "vigym", "mujoco", "mujoco"]
    assert len(runs[2]["apart_from_first"]) == 3


DRIVEN = """
<mujoco>
  <worldbody>
    <body name="b" pos="0 0 1">
      <joint name="j" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/>
    </body>
  </worldbody>
  <actuator>
    <general joint="j" gainprm="2" biastype="affine" biasprm="1 -30 -0.5"/>
    <position joint="j" kp="90"/>
  </actuator>
  <keyframe><key qpos="0.1" ctrl="3 3"/></keyframe>
</mujoco>
"""


def test_springs_of_actuators_act_and_motors_idle_on_both_sides(tmp_path):
    path = tmp_path / "arm.xml"
    spring, motor = DRIVEN, DRIVEN.replace("general", "position").replace("gainprm", "kp")
    motor = motor.replace('biastype="affine" biasprm="1 -30 -0.5"', "")
    for text in (spring, motor):
        path.write_text(text)
        fine, *_, own = compare_with_mujoco(path, 0.004, 0.4)
        # the spring, or the fall without it, moves the centre by centimetres
        assert own.distances(fine)[-1] < 1e-3


def test_options_of_methods_are_refused_beside_another_simulator(loop, capsys):
    line = ["compare", str(loop), "--with", "mujoco"]
    assert run([*line, "--position", "j=1", "-o", "kp=1", "--bare", "-m", "vigym"]) == 2
    said = capsys.readouterr().err
    for option in ("--position", "-o", "--bare", "-m"):
        assert option in said
    assert run(["compare", str(loop), "-m", "mujoco"]) == 2
    assert "--with mujoco" in capsys.readouterr().err

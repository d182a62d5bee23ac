"""Inputs of public entry points that nothing can have: an error of what was found, or it works."""

from operator import attrgetter

import numpy as np
import pytest

from vigym import MechanismError, Simulator
from vigym.mechanism.elements.shapes import Sphere
from vigym.mechanism.mechanism import Mechanism

NUMBERS = (1e300, -1e300, 1e-320, np.nan, np.inf, 10**30, 10**400, -1, 0)
OTHERS = ("x", None, [], {}, 3 + 4j, object(), [[1.0], [1.0, 2.0]])
ONE = (1.0, 1.0, 1.0)


def arm(**changes):
    """Return a hinged arm with a motor and a loose body; ``changes`` by argument."""
    mech = Mechanism(gravity=changes.get("gravity", (0, 0, -9.81)))
    body = {"mass": 1.0, "inertia": ONE, "position": (0.5, 0, 0)}
    body |= {key: value for key, value in changes.items() if key in body}
    mech.add_body("arm", **body)
    joint = {"damping": 0.1, "stiffness": 0.0, "armature": 0.0, "effort": 9.0, "friction": 0.0}
    joint |= {"axis": (0, 1, 0), "limits": None}
    joint |= {key: value for key, value in changes.items() if key in joint}
    mech.add_joint("hinge", "revolute", "world", "arm", (0, 0, 0), **joint)
    mech.add_body("loose", 1.0, ONE, position=(0, 0, 3))
    motor = {"kp": 1.0, "kd": 1.0}
    motor |= {key: value for key, value in changes.items() if key in motor}
    mech.add_motor("hinge", **motor)
    return mech


def simulator(**options):
    return Simulator(arm(), **options)


def reset(**given):
    sim = simulator()
    sim.reset(**given)
    return sim


def use(method, *before):
    """Return a function that calls a method of a simulator with a value."""

    def call(value):
        sim = simulator()
        attrgetter(method)(sim)(*before, value)
        return sim

    return call


def of_mechanism(name):
    return lambda value: Simulator(arm(**{name: value}))


ENTRIES = {
    name: of_mechanism(name)
    for name in ("gravity", "mass", "inertia", "position", "damping", "stiffness", "armature",
                 "effort", "friction", "axis", "limits", "kp", "kd")
}  # fmt: skip
ENTRIES |= {
    f"gravity ({axis})": lambda value, k=k: Simulator(
        arm(gravity=[value if n == k else 0 for n in range(3)])
    )
    for k, axis in enumerate("xyz")
}
ENTRIES |= {
    "place": lambda value: Simulator(arm(position=(value, 0, 0))),
    "moments": lambda value: Simulator(arm(inertia=(value, value, value))),
    "limit": lambda value: Simulator(arm(limits=(-1.0, value))),
    "mechanism": lambda value: Simulator(value),
    "timestep": lambda value: simulator(timestep=value),
    "order": lambda value: simulator(order=value),
    "loops": lambda value: simulator(loops=value),
    "tolerance": lambda value: simulator(tolerance=value),
    "batch": lambda value: simulator(batch=value),
    "threads": lambda value: simulator(threads=value, batch=2),
    "precision": lambda value: simulator(precision=value),
    "positions": lambda value: reset(positions={"hinge": value}),
    "all positions": lambda value: reset(positions=value),
    "velocities": lambda value: reset(velocities={"hinge": value}),
    "all velocities": lambda value: reset(velocities=value),
    "base velocity": lambda value: reset(base={"loose": {"velocity": (0, 0, value)}}),
    "base position": lambda value: reset(base={"loose": {"position": (0, 0, value)}}),
    "base": lambda value: reset(base=value),
    "mask": lambda value: reset(mask=value),
    "torques": use("step"),
    "torque": lambda value: use("step")([value]),
    "target": lambda value: use("step", None)([value]),
    "substeps": use("step", None, None),
    "impulses": use("push"),
    "impulse": lambda value: use("push")([[0, 0, value], [0, 0, 0]]),
    "force": lambda value: use("forces.apply", "loose")((0, 0, value)),
    "state": use("set_state"),
    "parameters": use("set_parameters"),
    "mass factor": lambda value: use("set_parameters")({"mass": value}),
    "gravity factor": lambda value: use("set_parameters")({"gravity": value}),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("entry", ENTRIES)
def test_each_is_refused_with_what_was_found_or_works(entry):
    faults = {}
    for value in (*NUMBERS, *OTHERS):
        try:
            sim = ENTRIES[entry](value)
        except ValueError as error:  # errors of mechanisms are such errors
            if "found" not in str(error):
                faults[repr(value)[:20]] = repr(error)
            continue
        except MemoryError:
            if entry != "batch":
                raise
            continue
        except Exception as error:
            faults[repr(value)[:20]] = repr(error)
            continue
        fault = unsound(sim)
        if fault:
            faults[repr(value)[:20]] = fault
    assert faults == {}


def unsound(sim):
    """Return why a simulator does not work, "" if it does."""
    for _ in range(2):
        if not np.isfinite(sim.energy().total).all():
            return f"energy {sim.energy().total}"
        before = sim.body_states
        if not np.all(sim.step().converged) and not np.array_equal(before, sim.body_states):
            return "a step that failed moved bodies"
    return ""


NAMES = ("", " ", "a\0b", "a\x7f", "\ud800", 3, None, b"name", ["name"])
NAMED = {
    "mechanism": lambda name: Mechanism(name=name),
    "body": lambda name: Mechanism().add_body(name, 1.0, ONE),
    "joint": lambda name: arm().add_joint(name, "fixed", "arm", "loose", (0, 0, 0)),
    "frame": lambda name: arm().add_frame(name, "arm"),
    "spring": lambda name: arm().add_spring(
        name, "arm", "loose", (0, 0, 0), (0, 0, 1), stiffness=1.0, rest_length=1.0
    ),
    "contact": lambda name: arm().add_contact(name, "arm", (0, 0, 0)),
    "collision": lambda name: arm().add_collision(name, "arm", Sphere(radius=1.0)),
    "coupling": lambda name: arm().add_coupling(name, "gear", "hinge", "hinge"),
    "potential": lambda name: arm().add_potential(name, "arm", abs, abs),
}


@pytest.mark.parametrize("element", NAMED)
def test_names_that_no_file_can_have(element):
    for name in NAMES:
        with pytest.raises(MechanismError, match="name: found .*, expected"):
            NAMED[element](name)


def test_long_and_foreign_names_are_names():
    mech = Mechanism(name="手臂 é 🦾")
    mech.add_body(10_000 * "n", 1.0, ONE)
    assert mech.degrees_of_freedom == 6

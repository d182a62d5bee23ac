"""Scenes of `digests.py` that a simulator plays: what moves, how it starts, what is done to it."""

import inspect
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field

import digest_models as models
import digest_touching as touching
import gymnasium
import numpy as np

from vigym import MINITAUR_MOTOR, Simulator

BATCH = 11  # no multiple of the lanes of a register
EVERY = 50  # steps between readings
RESET = inspect.signature(Simulator.reset).parameters
PLACE = "place_on_ground" if "place_on_ground" in RESET else "lift"
SPIN = (0.3, -0.1, 0.2, 1.0, 2.0, -1.5)  # of a free body: velocity, angular velocity


@dataclass(frozen=True)
class Scene:
    """A mechanism, its start, what drives it and what happens to it.

    Attributes:
        name: with the group in front, "loops/window".
        build: makes the mechanism.
        start: arguments of `Simulator.reset`; in a batch their numbers grow by 2 % a place.
        torque: amplitude of the actuators' torques.
        targets: amplitudes of the motors' targets; none: they idle.
        options: of the simulator.
        phase: by how much the waves of torques and targets go on from one reading to the next.
        steps: how many.
        factors: quantity -> largest change of a factor by `set_parameters`.
        events: reading -> what happens before the steps that follow it.
        frames: names of frames that are read.
        kinds: any of "scalar" and "batch".
    """

    name: str
    build: Callable
    start: dict = field(default_factory=dict)
    torque: float = 0.0
    targets: tuple = ()
    options: dict = field(default_factory=dict)
    phase: float = 1.3
    steps: int = 1000
    factors: dict = field(default_factory=dict)
    events: dict = field(default_factory=dict)
    frames: tuple = ()
    kinds: tuple = ("scalar", "batch")


def spread(value, batch):
    """Return what is given for one environment, or rows for a batch that grow by 2 % a place."""
    if isinstance(value, dict):
        return {key: spread(part, batch) for key, part in value.items()}
    if batch is None or isinstance(value, bool):
        return value
    return np.multiply.outer(1.0 + 0.02 * np.arange(batch), np.asarray(value, float))


def play_scene(scene, kind, ledger):
    """Play a scene and read it every `EVERY` steps."""
    batch = BATCH if kind == "batch" else None
    sim = Simulator(scene.build(), batch=batch, **{"timestep": 0.01, **scene.options})
    if scene.factors:
        turns = np.sin(np.arange(BATCH) + 1.0) if batch else np.sin(1.0)
        sim.set_parameters({name: 1.0 + size * turns for name, size in scene.factors.items()})
    sim.reset(**spread(scene.start, batch))
    read_state(sim, ledger, scene.frames)
    for block in range(scene.steps // EVERY):
        if block in scene.events:
            sim = scene.events[block](sim, ledger) or sim
        phase = scene.phase * block
        torques = make_waves(sim.actuator_torques.shape[-1], scene.torque, phase, batch)
        targets = make_waves(len(scene.targets), scene.targets, phase, batch)
        sim.step(torques, targets if scene.targets else None, EVERY)
        read_state(sim, ledger, scene.frames)


def make_waves(count, amplitude, phase, batch):
    """Return inputs that change from one reading to the next, (count,) or (batch, count)."""
    return spread(amplitude * np.sin(phase + 0.7 * np.arange(count)), batch)


def read_state(sim, ledger, frames=()):
    """Add all that a simulator tells to a ledger."""
    for name in ("body_states", "joint_positions", "joint_velocities", "actuator_torques", "time"):
        ledger.add(name, getattr(sim, name))
    ledger.add("power", sim.readings.power)
    ledger.add("state", sim.state)
    ledger.add("energy", np.array(sim.energy()))
    ledger.add("joint_forces", sim.joint_forces())
    ledger.add("constraint_residual", sim.constraint_residual())
    metrics = sim.metrics()
    for name in sorted(metrics):
        ledger.add(f"metrics.{name}", metrics[name])
    if sim.contacts.gap.size:
        for name, values in sim.contacts._asdict().items():
            ledger.add(f"contacts.{name}", values)
    for name, values in sim.readings.status._asdict().items():
        ledger.add(f"status.{name}", values)
    for name in frames:
        ledger.add(f"frame.{name}", sim.body_position(name))
        ledger.add(f"frame.{name}", sim.body_orientation(name))
        ledger.add(f"frame.{name}", sim.body_velocity(name))
        ledger.add(f"frame.{name}", sim.body_angular_velocity(name))


def push_bodies(sim, ledger):
    """Strike all bodies."""
    shape = sim.body_states.shape[:-1] + (3,)
    sim.push(0.2 * np.sin(np.arange(np.prod(shape))).reshape(shape))


def restore_state(sim, ledger):
    """Go on for a while, come back, and go on in another simulator that is a copy."""
    state = sim.state
    sim.step(substeps=EVERY)
    ledger.add("excursion", sim.body_states)
    sim.state = state
    ledger.add("restored", sim.body_states)
    return pickle.loads(pickle.dumps(sim))


def restore_some(sim, ledger):
    """Bring every second environment back to where it was some steps before."""
    state = sim.state
    sim.step(substeps=EVERY)
    sim.set_state(state, np.arange(sim.batch or 1) % 2 == 0)


def reset_some(sim, ledger):
    """Start every third environment afresh."""
    sim.reset(mask=np.arange(sim.batch or 1) % 3 == 0)


def place_some(sim, ledger):
    """Put every second environment on the ground."""
    sim.reset(mask=np.arange(sim.batch or 1) % 2 == 0, **{PLACE: True})


def vary_some(sim, ledger):
    """Give every third environment heavier bodies."""
    sim.set_parameters({"mass": 1.3}, np.arange(sim.batch or 1) % 3 == 0)


def linearize_steps(sim, ledger):
    """Linearise one step and three about the present state."""
    for steps in (1, 3):
        A, B = sim.linearize(substeps=steps)
        ledger.add("linear.A", A)
        ledger.add("linear.B", B)


CHANGES = {4: push_bodies, 6: restore_state, 9: reset_some, 12: restore_some, 15: vary_some}
LINEAR = {0: linearize_steps, 5: linearize_steps}


def hang(rate=1.0, count=5, name="joint"):
    """Return a start at which hinges are bent and turn."""
    return {
        "positions": {f"{name}{i}": 0.3 * (-1) ** i for i in range(count)},
        "velocities": {f"{name}{i}": rate * (0.5 + 0.2 * i) for i in range(count)},
    }


def throw(*bodies):
    """Return a start at which free bodies fly and spin."""
    return {"velocities": {f"{name}:floating": SPIN for name in bodies}}


def list_plain():
    """Return scenes of trees that touch nothing."""
    chain = models.build_chain
    driven = (0.5, 2.0, 0.4)
    balls = {"velocities": {f"joint{i}": (1.0, 0.5 * i, -0.3) for i in range(5)}}
    loose = {"velocities": {"prismatic": 0.5, "universal": (1.0, -0.7), "free:floating": SPIN}}
    fine = {"options": {"timestep": 0.002}}
    rough = {"options": {"timestep": 0.02}, "steps": 150}
    factors = {"mass": 0.3, "length": 0.1, "gravity": 0.2, "inertia": 0.1}
    soft = {"mass": 0.2, "damping": 0.5, "stiffness": 0.3, "strength": 0.3, "joint_friction": 0.5}
    return [
        Scene("hinge_chain", chain, hang(), events=LINEAR),
        Scene("hinge_chain_of_20", lambda: chain(20), hang(0.2, 20)),
        Scene("hinge_chain_order_4", chain, hang(0.5), options={"order": 4}, events=LINEAR),
        Scene("hinge_chain_torques", lambda: chain(effort=3.0), hang(), 4.0, events=CHANGES),
        Scene("hinge_chain_threads", chain, hang(), options={"threads": 2}, kinds=("batch",)),
        Scene("ball_chain", lambda: chain(joint="spherical"), balls, events=LINEAR),
        Scene("ball_chain_order_4", lambda: chain(joint="spherical"), balls, options={"order": 4}),
        Scene("ball_chain_damped", lambda: chain(joint="spherical", damping=0.1), balls),
        Scene("all_joints", models.build_all_joints, loose, 0.5, frames=("tip", "post")),
        Scene("all_joints_changed", models.build_all_joints, loose, 0.5, events=CHANGES),
        Scene("all_joints_linear", models.build_all_joints, loose, events=LINEAR),
        Scene("soft_chain", models.build_soft_chain, hang(1.0, 5), 1.0),
        Scene("soft_chain_varied", models.build_soft_chain, hang(1.0, 5), 1.0, factors=soft),
        Scene("limits", models.build_limited, hang(1.0, 2)),
        Scene("motors", models.build_driven, hang(), 1.0, driven, events={3: linearize_steps}),
        Scene("motors_varied", models.build_driven, hang(), 1.0, driven, factors={"strength": 0.4}),
        Scene("motors_idle", models.build_driven, hang(), 1.0),
        Scene("dc_motor", lambda: models.build_driven(MINITAUR_MOTOR), hang(), 1.0, (*driven, 0.6)),
        Scene("braked", models.build_braked, {"positions": {"axle": 0.5}}, 1.0, (3.0,)),
        Scene("couplings", models.build_coupled, {"velocities": {"knuckle": 2.0}}, 2.0),
        Scene("couplings_linear", models.build_coupled, events={0: linearize_steps}),
        Scene("springs", models.build_sprung, hang(0.5, 3), events=CHANGES),
        Scene("springs_order_4", lambda: models.build_sprung(0.0, 1e3), options={"order": 4}),
        Scene("violent", models.build_whip, hang(0.5, 12), 0.3, **fine),
        Scene("failing", models.build_whip, hang(20.0, 12), 3.0, **rough),
        Scene("varied", lambda: chain(effort=3.0), hang(), 1.0, factors=factors, events=CHANGES),
        Scene("long_steps", chain, hang(), options={"timestep": 0.05, "tolerance": 1e-12}),
    ]


def list_loops():
    """Return scenes with closed loops that touch nothing."""
    windows = models.build_windows
    turn = {"velocities": {"ground0": 1.0}}
    swing = {"velocities": {"a.revolute": 1.0, "b.revolute": -0.5}}
    hips = {"positions": {"front_hip": 0.1, "back_hip": -0.2}, "velocities": {"front_hip": 1.0}}
    pushes = {3: push_bodies, 8: reset_some}
    factors = {"length": 0.05, "mass": 0.2}
    four = {"order": 4}
    asked = {"positions": {"right0": 0.1}, "velocities": {"right0": 0.5}}
    scenes = [
        Scene(f"window_{k}_{loops}", lambda k=k: windows(k), turn, 0.5, options={"loops": loops})
        for k in (1, 5)
        for loops in ("tail", "local")
    ]
    scenes += [
        Scene(f"closed_by_{kind}", lambda kind=kind: models.build_spatial(kind), swing, 0.5)
        for kind in models.CLOSED
    ]
    return [
        *scenes,
        Scene("window_changed", lambda: windows(1), turn, 1.0, events=CHANGES),
        Scene("window_linear", lambda: windows(1), turn, events=LINEAR),
        Scene("window_order_4", lambda: windows(1), turn, options=four),
        Scene("window_varied", lambda: windows(1), turn, 0.5, factors=factors),
        Scene("window_closing_asked", lambda: windows(1), asked),
        Scene("windows_20", lambda: windows(20), {"velocities": {"ground0": 0.2}}, steps=300),
        Scene(
            "spatial_order_4", lambda: models.build_spatial("spherical", 0.0), swing, options=four
        ),
        Scene("spatial_linear", lambda: models.build_spatial("spherical"), swing, events=LINEAR),
        Scene("bricard", models.build_bricard, {"velocities": {"hinge0": 1.0}}, 1.0),
        Scene("open_four_bar", models.build_open_four_bar, {"velocities": {"hinge0": 2.0}}),
        Scene("leg", lambda: models.build_leg(False), hips, 0.2, (0.3, 0.4), events=pushes),
        Scene("leg_linear", lambda: models.build_leg(False), hips, events={4: linearize_steps}),
        Scene("quadruped", lambda: models.build_quadruped(False), {}, 0.2, (0.3,) * 8),
    ]


def make_environment_mechanism(name, **options):
    """Return the mechanism of an environment."""
    env = gymnasium.make(name, **options)
    mechanism = env.unwrapped.mechanism
    env.close()
    return mechanism


def list_contacts():
    """Return scenes on the ground."""
    solid = touching.build_solid
    free = throw("solid")
    fine = {"timestep": 0.005}
    inside = {"contact_solver": "interior_point"}
    rolling = {"base": {"solid": {"velocity": (1.0, 0.0, 0.0), "angular_velocity": (0, 10.0, 0.3)}}}
    spinning = {"base": {"puck": {"velocity": (1.0, 0.4, 0.0), "angular_velocity": (0, 0, 6.0)}}}
    driving = {"velocities": {"plane": (0.5, 0.0, 0.8)}}
    legs = (0.3, 0.4)
    factors = {"friction": 0.4, "mass": 0.2, "gravity": 0.1}
    leg = {"build": lambda: make_environment_mechanism("vigym/MinitaurLeg-v0")}
    robot = {"build": lambda: make_environment_mechanism("vigym/Minitaur-v0")}
    bounce = {"restitution": 0.7}
    scenes = [
        Scene(f"{kind}_drop", lambda k=kind: solid(k), free) for kind in ("ball", "rod", "can")
    ]
    scenes += [
        Scene(f"brick_{name}", lambda: solid("brick"), free, options=options, steps=steps)
        for name, options, steps in (
            ("cone", {}, 1000),
            ("pyramid", {"friction_cone": "pyramid"}, 1000),
            ("interior_point", inside, 1000),
            ("fine", fine, 1000),
        )
    ]
    return [
        *scenes,
        Scene("ball_rolls", lambda: solid("ball", 0.1, (1, 0, 0, 0), 0.1), rolling),
        Scene("ball_interior_point", lambda: solid("ball", 0.15), rolling, options=inside),
        Scene("can_on_rim", lambda: solid("can", 0.2, (0.9, 0.3, 0, 0)), free, options=fine),
        Scene("brick_on_slope", lambda: solid("brick", 0.12, (1, 0, 0, 0), 0.4), free),
        Scene("brick_bounces", lambda: solid("brick", 0.6, **bounce), free),
        Scene("ball_bounces", lambda: solid("ball", 0.6, **bounce), free, events=CHANGES),
        Scene("varied", lambda: solid("brick"), free, factors=factors, events={8: place_some}),
        Scene("puck", touching.build_puck, spinning),
        Scene("puck_pyramid", touching.build_puck, spinning, options={"friction_cone": "pyramid"}),
        Scene("walker", touching.build_walker, {PLACE: True}, 1.0, (0.2, 0.3, 0.2, 0.3)),
        Scene("hopper", touching.build_hopper, throw("box"), 0.5, (0.5,), events={9: place_some}),
        Scene("hopper_falls", touching.build_hopper, throw("box"), events={0: linearize_steps}),
        Scene("sleigh", touching.build_sleigh, driving),
        Scene("unicycle", touching.build_unicycle, driving, 0.2),
        Scene("hopping_leg", lambda: models.build_leg(True), {}, 0.2, legs, events=CHANGES),
        Scene("quadruped", lambda: models.build_quadruped(True), {PLACE: True}, 0.1, (0.2,) * 8),
        Scene("minitaur_leg", start={PLACE: True}, targets=legs, **leg),
        Scene("minitaur", start={PLACE: True}, targets=(0.3,) * 8, options=fine, **robot),
    ]


def list_pairs():
    """Return scenes of bodies that touch each other."""
    kinds = "ball-ball", "ball-rod", "ball-brick", "rod-rod", "rod-brick"
    rates = {"a:floating": (2.0, 0.05, -0.03, 1.0, -2.0, 0.5), "b:floating": (0, 0, 0, 0.3, 1, -1)}
    meet = {"velocities": rates}
    row = {"velocities": {"ball0:floating": (2.0, 0.1, 0.0, 0.0, 0.0, 3.0)}}
    pads = {"velocities": {"ball:floating": (0.0, 0.0, 0.2, 0.0, 1.0, 0.0)}}
    fly = {"velocities": {"ball:floating": (0.0, 0.0, -1.0, 0.0, 2.0, 0.0), "hinge0": 0.2}}
    curl = (2.0, 2.6, 1.8, 2.0)
    scenes = [Scene(f"{k}", lambda k=k: touching.build_meeting(k), meet) for k in kinds]
    return [
        *scenes,
        Scene("bounce", lambda: touching.build_meeting("rod-brick", restitution=0.6), meet),
        Scene("row", lambda: touching.build_row(4, 0.8), row, events=CHANGES),
        Scene("row_plain", lambda: touching.build_row(4, 0.0), row),
        Scene("table", touching.build_table, {"velocities": {"ball:floating": SPIN}}, steps=500),
        Scene("table_placed", touching.build_table, {PLACE: True}, steps=200),
        Scene("crossed", touching.build_crossed, {"velocities": {"top:floating": SPIN}}, steps=500),
        Scene("squeezed", touching.build_squeezed, pads, 2.0),
        Scene("coil", lambda: touching.build_coil(5), {}, 0.3, curl, phase=0.1),
        Scene(
            "coil_varied", lambda: touching.build_coil(4), {}, 0.1, curl[:3], factors={"mass": 0.2}
        ),
        Scene("struck_four_bar", touching.build_struck_four_bar, fly, steps=500),
    ]


def list_single_precision():
    """Return scenes of batches that step in single precision."""
    chain = models.build_chain
    balls = {"velocities": {f"joint{i}": (1.0, 0.5 * i, -0.3) for i in range(5)}}
    loose = {"velocities": {"prismatic": 0.5, "universal": (1.0, -0.7), "free:floating": SPIN}}
    soft = {"mass": 0.2, "damping": 0.5, "strength": 0.3}
    scenes = [
        Scene("hinge_chain", chain, hang(0.5)),
        Scene("hinge_chain_torques", lambda: chain(effort=3.0), hang(), 4.0, events=CHANGES),
        Scene("ball_chain", lambda: chain(joint="spherical"), balls),
        Scene("all_joints", models.build_all_joints, loose, 0.5),
        Scene("soft_chain", models.build_soft_chain, hang(), 1.0, factors=soft),
        Scene("limits", models.build_limited, hang(1.0, 2)),
        Scene("motors", models.build_driven, hang(), 1.0, (0.5, 2.0, 0.4)),
    ]
    single = {"options": {"precision": "float32"}, "kinds": ("batch",)}
    return [Scene(**{**vars(scene), **single}) for scene in scenes]


GROUPS = {
    "plain": list_plain,
    "loops": list_loops,
    "contact": list_contacts,
    "pairs": list_pairs,
    "float32": list_single_precision,
}


def list_scenes():
    """Return name -> what fills a ledger, of all scenes."""
    found = {}
    for group, make in GROUPS.items():
        for scene in make():
            for kind in scene.kinds:
                name = f"{group}/{scene.name}/{kind}"
                found[name] = lambda ledger, s=scene, k=kind: play_scene(s, k, ledger)
    return found

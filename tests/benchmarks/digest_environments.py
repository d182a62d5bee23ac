"""Scenes of `digests.py` that are played through Gymnasium, and robots that are read from files."""

import tempfile
from pathlib import Path

import digest_touching as touching
import gymnasium
import numpy as np
from digest_scenes import Scene, play_scene

import vigym
import vigym.wrappers.vector
from vigym import Simulator, load_urdf, wrappers

BATCH = 11
STEPS = 200
SLOW = {"Snake-touching": 50}  # steps of those that take long
STONE = """v -0.1 -0.1 -0.1
v 0.15 -0.1 -0.1
v 0.0 0.2 -0.1
v 0.0 0.0 0.15
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
"""
GAITS = (
    ("Minitaur", "trot"),
    ("Minitaur", "pronk"),
    ("Minitaur", "bound"),
    ("MinitaurLeg", "hop"),
    ("Snake", "lateral_undulation"),
    ("SnakeSidewinding", "sidewinding"),
    ("InvertedDoublePendulum", "lqr"),
    ("Pendulum", "energy_swing_up"),
    ("FourBar", "pd"),
)
WRAPPERS = (
    ("EnergyReward", {"weight": 0.1}),
    ("EnergyReward", {"weight": 0.1, "kind": "torque_squared"}),
    ("EnergyReward", {"weight": 0.1, "kind": "drift"}),
    ("ConstraintReward", {"weight": 1e6}),
    ("CostOfTransportReward", {"weight": 0.01}),
    ("PhysicsCost", {"kind": "mechanical_power"}),
    ("PhysicsCost", {"kind": "penetration", "limit": 1e-9}),
    ("PhysicsCost", {"kind": "slip"}),
    ("PhysicsVectorReward", {}),
)


def find_robots():
    """Return name -> file of the robots that come with the package in use."""
    package = Path(vigym.__file__).parent
    above = package.parents
    folders = above[0] / "assets", above[1] / "assets", package / "assets", package / "_assets"
    files = [path for folder in folders for path in sorted(folder.rglob("*.urdf"))]
    return {path.stem: path for path in files}


def list_options():
    """Return name -> id and options of environments."""
    robots = find_robots()
    ids = sorted(name for name in gymnasium.registry if name.startswith("vigym/"))
    found = {name.removeprefix("vigym/"): (name, {}) for name in ids if "Urdf" not in name}
    disturbed = {
        "randomization": {"mass": (0.8, 1.2), "friction": (0.5, 1.5), "length": (0.97, 1.03)},
        "observation_noise": 0.01,
        "action_latency": 2,
        "pushes": (1.0, 0.5),
    }
    rough = {"randomization": {"mass": (0.8, 1.2), "strength": (0.5, 1.0)}, "pushes": (0.5, 0.2)}
    balls = {"joint": "spherical", "links": 2}
    return found | {
        "Urdf-acrobot": ("vigym/Urdf-v0", {"urdf": str(robots["acrobot"])}),
        "Urdf-four_bar": ("vigym/Urdf-v0", {"urdf": str(robots["four_bar"])}),
        "PendulumChain-balls": ("vigym/PendulumChain-v0", balls),
        "PendulumChain-rough": ("vigym/PendulumChain-v0", rough),
        "Minitaur-voltage": ("vigym/Minitaur-v0", {"motor": "voltage"}),
        "MinitaurLeg-disturbed": ("vigym/MinitaurLeg-v0", disturbed),
        "Snake-skates": ("vigym/Snake-v0", {"skates": True}),
        "Snake-torque": ("vigym/Snake-v0", {"drive": "torque"}),
        "Snake-touching": ("vigym/Snake-v0", {"self_collision": True, "links": 6}),
    }


def add_infos(ledger, infos, prefix="info"):
    """Add every number of an info to a ledger, by its sorted keys; texts are left out."""
    for key in sorted(infos):
        value = infos[key]
        if isinstance(value, dict):
            add_infos(ledger, value, f"{prefix}.{key}")
            continue
        numbers = np.asarray(value)
        if numbers.dtype.kind in "biuf":
            ledger.add(f"{prefix}.{key}", numbers)
        elif numbers.dtype == object:
            parts = [np.asarray(part, float).ravel() for part in numbers if part is not None]
            ledger.add(f"{prefix}.{key}", np.concatenate(parts) if parts else np.zeros(0))


def add_step(ledger, observation, reward, terminated, truncated, infos):
    """Add what a step returns to a ledger."""
    ledger.add("observation", observation)
    ledger.add("reward", reward)
    ledger.add("terminated", terminated)
    ledger.add("truncated", truncated)
    add_infos(ledger, infos)


def play_single(env, ledger, steps=STEPS, act=None):
    """Play episodes of one environment with seeded or given actions."""
    rng = np.random.default_rng(5)
    observation, info = env.reset(seed=3)
    ledger.add("observation", observation)
    add_infos(ledger, info)
    shape = env.action_space.shape
    for step in range(steps):
        action = rng.uniform(-1.0, 1.0, shape) if act is None else act(step, shape)
        outcome = env.step(action.astype(np.float32))
        add_step(ledger, *outcome)
        if outcome[2] or outcome[3]:
            ledger.add("observation", env.reset()[0])
    env.close()


def play_vector(envs, ledger, steps=STEPS, act=None):
    """Play episodes of a vector of environments with seeded or given actions."""
    rng = np.random.default_rng(5)
    observations, infos = envs.reset(seed=3)
    ledger.add("observation", observations)
    add_infos(ledger, infos)
    shape = envs.action_space.shape
    for step in range(steps):
        action = rng.uniform(-1.0, 1.0, shape) if act is None else act(step, shape)
        add_step(ledger, *envs.step(action.astype(np.float32)))
    envs.close()


def wave(step, shape):
    """Return actions of a wave that runs along the joints, unlike in every environment."""
    places = 0.05 * np.arange(shape[0])[:, None] if len(shape) == 2 else 0.0
    return 0.6 * np.sin(0.25 * step - 0.7 * np.arange(shape[-1]) + places)


# metric of an episode: its name in the recorded digests
RECORDED = {
    "reached_goal": "done",
    "unconverged_steps": "failures",
    "solver_iterations_max": "solver_iterations_most",
}


def play_gait(name, controller, ledger):
    """Let a named controller play two episodes and add its scores."""
    options = {} if name != "Minitaur" else {"motor": "torque"}
    done = vigym.evaluate(f"vigym/{name}-v0", controller, episodes=2, options=options)
    for row in done.rows:
        for key, value in sorted(vars(row).items()):
            numbers = np.asarray(value) if not isinstance(value, dict) else np.zeros(0)
            if numbers.dtype.kind in "biuf":
                ledger.add(RECORDED.get(key, key), numbers)


def wrap_single(name, options):
    """Return one environment in a wrapper."""
    return getattr(wrappers, name)(gymnasium.make("vigym/Minitaur-v0"), **options)


def wrap_vector(name, options):
    """Return a vector of environments in a wrapper."""
    envs = gymnasium.make_vec("vigym/Minitaur-v0", num_envs=3, autoreset_mode="SameStep")
    return getattr(wrappers.vector, name)(envs, **options)


def add_robot(mechanism, folder, ledger):
    """Add what a mechanism says, its masses, and how it moves in 100 steps."""
    said = "\n".join(map(str, mechanism.notes))
    ledger.add_text("summary", mechanism.summary().replace(folder, ""))
    ledger.add_text("report", said.replace(folder, ""))
    for batch in (None, 3):
        sim = Simulator(mechanism, 0.002, batch=batch)
        kind = "scalar" if batch is None else "batch"
        masses, inertias = sim.body_inertias
        ledger.add(f"{kind}.masses", masses)
        ledger.add(f"{kind}.inertias", inertias)
        ledger.add(f"{kind}.joint_positions", sim.joint_positions)
        sim.step(substeps=100)
        ledger.add(f"{kind}.body_states", sim.body_states)
        ledger.add(f"{kind}.joint_positions", sim.joint_positions)
        ledger.add(f"{kind}.joint_forces", sim.joint_forces())


def read_robot(path, options, ledger):
    """Load a robot, move it, write it, and load what was written."""
    mechanism = load_urdf(path, **options)
    add_robot(mechanism, str(path.parent), ledger)
    text = mechanism.to_urdf()
    ledger.add_text("to_urdf", text)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "robot.urdf"
        mechanism.to_urdf(copy)
        again = load_urdf(copy, ground=options.get("ground"))
    ledger.add_text("to_urdf again", again.to_urdf())
    sim = Simulator(again, 0.002)
    sim.step(substeps=100)
    ledger.add("again.body_states", sim.body_states)


def drop_stone(kind, ledger):
    """Drop a body that touches by a mesh."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stone.obj"
        path.write_text(STONE)
        start = {"velocities": {"stone:floating": (0.3, 0.1, 0.0, 1.0, -2.0, 0.5)}}
        play_scene(Scene("stone", lambda: touching.build_mesh(path), start), kind, ledger)


def list_robots():
    """Return name -> what fills a ledger, of robots in files."""
    found = {}
    ways = {"": {}, "_floating": {"base": "floating"}, "_ground": {"ground": True}}
    for name, path in find_robots().items():
        for way, options in ways.items():
            if way == "_floating" and name != "minitaur":
                continue
            key = f"urdf/{name}{way}"
            found[key] = lambda ledger, p=path, o=options: read_robot(p, o, ledger)
    for kind in ("scalar", "batch"):
        found[f"contact/mesh/{kind}"] = lambda ledger, k=kind: drop_stone(k, ledger)
    return found


def list_environments():
    """Return name -> what fills a ledger, of environments, gaits and wrappers."""
    found = {}
    for name, (env_id, options) in list_options().items():
        steps = SLOW.get(name, STEPS)
        found[f"env/{name}/single"] = lambda ledger, e=env_id, o=options, n=steps: play_single(
            gymnasium.make(e, **o), ledger, n
        )
        found[f"env/{name}/vector"] = lambda ledger, e=env_id, o=options, n=steps: play_vector(
            gymnasium.make_vec(e, num_envs=BATCH, **o), ledger, n
        )
    modes = {"same_step": {"autoreset_mode": "SameStep"}, "float32": {"precision": "float32"}}
    for mode, how in modes.items():
        for name in ("Pendulum-v0", "CartPole-v0", "PendulumChain-v0"):
            found[f"env/{name}/{mode}"] = lambda ledger, n=name, h=how: play_vector(
                gymnasium.make_vec(f"vigym/{n}", num_envs=BATCH, **h), ledger
            )
    for name in ("Minitaur-v0", "Snake-v0", "SnakeSidewinding-v0"):
        found[f"env/{name}/single_wave"] = lambda ledger, n=name: play_single(
            gymnasium.make(f"vigym/{n}"), ledger, 300, wave
        )
        found[f"env/{name}/vector_wave"] = lambda ledger, n=name: play_vector(
            gymnasium.make_vec(f"vigym/{n}", num_envs=BATCH), ledger, 300, wave
        )
    for name, gait in GAITS:
        found[f"env/gait/{gait}"] = lambda ledger, n=name, g=gait: play_gait(n, g, ledger)
    for i, (name, options) in enumerate(WRAPPERS):
        found[f"env/wrapper/{i}_{name}/single"] = lambda ledger, n=name, o=options: play_single(
            wrap_single(n, o), ledger, 40, wave
        )
        found[f"env/wrapper/{i}_{name}/vector"] = lambda ledger, n=name, o=options: play_vector(
            wrap_vector(n, o), ledger, 40, wave
        )
    return found

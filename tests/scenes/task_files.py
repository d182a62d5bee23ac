"""URDF files of the tasks whose mechanisms are programs: `assets/NAME`, written by `to_urdf`.

`PYTHONPATH=tests python -m scenes.task_files` writes them anew.
"""

from dataclasses import replace

from vigym import assets
from vigym.envs.tasks.pendulum_chain import PendulumChain
from vigym.envs.tasks.snake_sidewinding import SERVO, SnakeSidewinding, alternating_snake

NOTES = {
    "pendulum_chain": "The chain of vigym/PendulumChain-v0 with its default options.",
    "snake_sidewinding": "The snake of vigym/SnakeSidewinding-v0 with its default options, but without the inertia of "
    "the motors' rotors, which a URDF file cannot tell.",
}


def text(name):
    """Return the file of a task's mechanism."""
    if name == "pendulum_chain":
        mechanism = PendulumChain().mechanism()
    else:
        task, servo = SnakeSidewinding(), replace(SERVO, armature=0.0)
        mechanism = alternating_snake(task.links, task.friction, task.self_collision, servo)
    head, line, rest = mechanism.to_urdf().partition("\n")
    return f"{head}{line}<!-- {NOTES[name]} -->\n{rest}"


def main():
    """Write the files."""
    folder = assets.path("minitaur").parents[1]
    for name in NOTES:
        file = folder / name / f"{name}.urdf"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text(name))


if __name__ == "__main__":
    main()

"""URDF files of the tasks whose mechanisms are programs: `assets/NAME`, written by `to_urdf`.

`PYTHONPATH=tests python -m scenes.task_files` writes them anew.
"""

from vigym import assets
from vigym.envs.tasks.pendulum_chain import PendulumChain
from vigym.envs.tasks.snake_sidewinding import SnakeSidewinding

NOTES = {
    "pendulum_chain": "The chain of vigym/PendulumChain-v0 with its default options.",
    "snake_sidewinding": "The snake of vigym/SnakeSidewinding-v0 with its default options.",
}


def text(name):
    """Return the file of a task's mechanism."""
    tasks = {"pendulum_chain": PendulumChain, "snake_sidewinding": SnakeSidewinding}
    mechanism = tasks[name]().mechanism()
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

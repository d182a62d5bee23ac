"""Interface of all methods, and the elements that they refuse."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from vigym.mechanism.elements.checks import require_positive
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.joints import Track
from vigym.simulation.simulator import Simulator
from vigym.simulation.state.coordinates import Given
from vigym.simulation.state.readings import Energy
from vigym.spatial import Array

# kinds of elements that some methods do not support, with their names in messages
LOOPS, BALLS = "loop", "three free rotations"
SPRINGS, DAMPERS = "joint spring", "joint damper"
BALL_DAMPERS = "damper of three rotations"
CURVES, SURFACES = "curve joint", "surface joint"
CUSTOM = "joint of your own"
EVERYTHING = frozenset(
    (
        *(LOOPS, BALLS, SPRINGS, DAMPERS, BALL_DAMPERS, CURVES, SURFACES, CUSTOM),
        *("spring of three rotations", "spring or damper on a loop"),
        *("coupling", "limit", "joint friction", "armature", "point spring", "contact", "skate"),
        *("wheel", "prescribed motion", "velocity constraint", "potential"),
        "force along a curve or coordinate",
    )
)
PRODUCT = "vigym"  # name of the product's own step
METHODS: dict[str, type["Method"]] = {}  # by name, in the order of definition


class StepError(RuntimeError):
    """Step that a method could not make: names the method, the time and the reason."""


class Method(ABC):
    """Integrator of one mechanism, with the readings that all methods share.

    Args:
        mechanism: mechanism to simulate; later changes to it have no effect.
        timestep: step size h [s].
        tolerance: of equations that a step solves by iteration; each method names its own unit.

    Raises:
        MechanismError: the method does not support an element; the error names methods that do.

    Attributes:
        name: key in `METHODS`.
        order: of convergence in the step.
        knows: kinds of elements that the method supports, besides bodies and joints of a tree.
        time: simulated time [s].
        iterations: of the last step; zero of explicit methods.
        factorisations: of matrices in the last step.
    """

    name: ClassVar[str] = ""
    order: ClassVar[int] = 1
    knows: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if vars(cls).get("name"):  # its own, not that of a method it derives from
            METHODS[cls.name] = cls

    def __init__(
        self, mechanism: Mechanism, timestep: float = 0.01, tolerance: float = 1e-10
    ) -> None:
        require_known(mechanism, self.name, self.knows)
        require_positive(tolerance, "tolerance")
        self._simulator = Simulator(mechanism, timestep)
        self.mechanism = self._simulator.mechanism
        self.timestep = timestep
        self.tolerance = tolerance
        self._prepare()
        self.reset()

    def reset(self, positions: Given = None, velocities: Given = None) -> None:
        """Start from joint coordinates and velocities, with those of `Simulator.reset`."""
        self._simulator.reset(positions, velocities)
        self.time = 0.0
        self.iterations = 0
        self.factorisations = 0
        joints = self.mechanism.tree_joints
        n_q = sum(len(joint.joint_type.positions) for joint in joints)
        n = sum(joint.dofs for joint in joints)
        start = self._simulator
        self._start(start.joint_positions[:n_q].copy(), start.joint_velocities[:n].copy())

    def step(self) -> None:
        """Make a step.

        Raises:
            StepError: equations that found no solution, or numbers that are no longer finite.
        """
        self.iterations = 0
        self.factorisations = 0
        with np.errstate(all="ignore"):  # a number that is not finite is an error below
            self._advance()
        self.time += self.timestep
        if not np.isfinite(self.velocities).all():
            raise self._error("velocities that are not finite")

    def _error(self, found: str) -> StepError:
        return StepError(f"method {self.name!r} at {self.time:.6g} s: found {found}")

    @abstractmethod
    def _prepare(self) -> None:
        """Compute constants of the mechanism."""

    @abstractmethod
    def _start(self, q: Array, rates: Array) -> None:
        """Set coordinates and rates of the tree's joints."""

    @abstractmethod
    def _advance(self) -> None:
        """Move the state by a step."""

    @property
    @abstractmethod
    def positions(self) -> Array:
        """Coordinates of the tree's joints, as `Simulator.joint_positions` has them first."""

    @property
    @abstractmethod
    def velocities(self) -> Array:
        """Rates of the tree's joints, as `Simulator.joint_velocities` has them first."""

    @abstractmethod
    def energy(self) -> Energy:
        """Return kinetic, potential (springs included) and total energy at present [J]."""

    @abstractmethod
    def gap(self) -> float:
        """Return the largest joint gap [m or rad]."""


def make_energy(kinetic: float, potential: float) -> Energy:
    """Return energies [J] with their sum."""
    return Energy(kinetic, potential, kinetic + potential)


def elements(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Return (kind, element) of the elements that some methods do not support."""
    found = [(LOOPS, f"joint {joint.name!r}") for joint in mechanism.closing_joints]
    for joint in mechanism.ordered_joints:
        closes = joint in mechanism.closing_joints
        name = f"joint {joint.name!r}"
        ball = joint.joint_type.has_quaternion
        spring, damper = joint.is_sprung, joint.is_damped
        marks = {
            BALLS: ball,
            "spring of three rotations": spring and ball,
            "spring or damper on a loop": closes and (spring or damper),
            SPRINGS: spring and not (ball or closes),
            DAMPERS: damper and not (ball or closes),
            BALL_DAMPERS: damper and ball,
            "limit": joint.limits is not None,
            "joint friction": joint.friction > 0.0,
            "armature": joint.armature > 0.0,
        }
        found += [(kind, name) for kind, marked in marks.items() if marked]
    named: dict[str, Iterable[str]] = {
        "coupling": mechanism.couplings,
        "prescribed motion": mechanism.motions,
        "velocity constraint": mechanism.velocity_constraints,
        "potential": mechanism.potentials,
        "point spring": mechanism.springs,
        "skate": mechanism.skates,
        "wheel": mechanism.wheels,  # before the contacts of its rim
        "contact": mechanism.contact_names,
        "force along a curve or coordinate": _slides(mechanism),
    }
    tracks = [(_kind(track), name) for name, track in mechanism.tracks.items()]
    found += [(kind, f"{kind} {name!r}") for kind, name in tracks]
    return found + [(kind, f"{kind} {name!r}") for kind in named for name in named[kind]]


def _kind(track: Track) -> str:
    if isinstance(track, CustomJoint):
        return CUSTOM
    return CURVES if track.on_curve else SURFACES


def _slides(mechanism: Mechanism) -> list[str]:
    """Return the names of joints with springs, dampers, friction or limits of their own."""
    given = {
        name: track.slides if isinstance(track, CustomJoint) else (track.slide,)
        for name, track in mechanism.tracks.items()
    }
    return [name for name, slides in given.items() if any(slide is not None for slide in slides)]


def require_known(mechanism: Mechanism, method: str, knows: frozenset[str]) -> None:
    """Raise MechanismError for the first element that a method does not support."""
    present = elements(mechanism)
    for kind, element in present:
        if kind not in knows:
            kinds = {each for each, _ in present}
            able = [name for name, each in METHODS.items() if kinds <= each.knows]
            what = element if element.startswith(kind) else f"{element} ({kind})"
            raise MechanismError(
                f"method {method!r}: found {what}, expected a mechanism without; "
                f"methods that simulate this one: {', '.join(able)}"
            )

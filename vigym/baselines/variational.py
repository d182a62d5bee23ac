"""Variational integrators in joint coordinates, and their root finders (LEE 4, 5; MC Fig. 8)."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from vigym.baselines import discrete, recursion
from vigym.baselines.explicit import JointCoordinates
from vigym.baselines.methods import BALLS, DAMPERS, SPRINGS
from vigym.baselines.recursion import Factors, Joints
from vigym.baselines.tree import Tree
from vigym.spatial import Array

GIVEN_UP = 100  # iterations (MC Fig. 8)


class Missing:
    """Impulses that a step to given coordinates lacks, and their derivative.

    Args:
        tree: the tree.
        joints: at the first knot.
        incoming: momenta that bodies bring along, and the impulses of weights (n, 6).
        impulse: of springs along the degrees of freedom (dofs,).
        q: coordinates at the first knot.
        timestep: step size [s].

    Attributes:
        moved: displacements of the bodies in the step that was evaluated last.
        damped: half of the impulses of dampers in it (dofs,), the share of each knot.
    """

    def __init__(
        self,
        tree: Tree,
        joints: Joints,
        incoming: Array,
        impulse: Array,
        q: Array,
        timestep: float,
    ) -> None:
        self._tree = tree
        self._q = q
        self._step = timestep
        self._before = joints
        self._incoming = incoming
        self._impulse = impulse

    def __call__(self, q: Array) -> Array:
        """Return the impulses (dofs,) [N m s, N s] of a step to coordinates q (LEE 22)."""
        links = self._tree.links
        self._after = self._tree.joints(q, np.zeros(self._tree.dofs))
        self.moved = discrete.displace(links, self._before, self._after, self._step)
        result: Array = discrete.drnea(links, self._before, self.moved, self._incoming)
        columns, dofs = self._tree.scalars
        self.damped = np.zeros(len(result))
        self.damped[dofs] = -0.5 * self._tree.damping[dofs] * (q - self._q)[columns]
        return result - self._impulse - self.damped

    def derivative(self) -> Array:
        """Return the derivative (dofs, dofs) there by displacements of the coordinates."""
        result: Array = discrete.drnea_derivative(
            self._tree.links, self._before, self._after, self.moved, self._step
        )
        return result + 0.5 * np.diag(self._tree.damping)


class Variational(JointCoordinates):
    """Second-order variational integrator on SE(3), solved by the root finder of a subclass.

    A step is solved when the norm of the impulses that it lacks is at most `tolerance` [N m s].

    Attributes:
        guess: of the coordinates (LEE 3.3): "IG1", where they are; "IG2", on at the present rates;
            "IG3", on at those that the present accelerations give in half a step.
    """

    order = 2
    knows = frozenset((BALLS, SPRINGS, DAMPERS))
    guess: str = "IG3"

    _joints: Joints
    _factors: Factors

    def _start(self, q: Array, rates: Array) -> None:
        self._enter(q)
        twists = recursion.twists(self.tree.links, self._joints, rates)
        self._momentum = np.einsum("nij,nj->ni", self.tree.links.inertia, twists)
        self._impulse = np.zeros(self.tree.dofs)  # of springs and dampers in the step before

    def _enter(self, q: Array) -> None:
        """Evaluate joints, mass matrix and half a step's impulses of weights and springs."""
        links, half = self.tree.links, 0.5 * self.timestep
        self._q = q
        self._joints, self._factors = self.tree.factor(q)
        R, _ = recursion.poses(links, self._joints)
        self._weight = np.zeros((len(R), 6))
        mass = links.inertia[:, 5, 5, None]
        self._weight[:, 3:] = half * mass * (R.transpose(0, 2, 1) @ self.tree.gravity)
        self._spring = half * self.tree.forces(q, np.zeros(self.tree.dofs))

    @property
    def velocities(self) -> Array:
        """Rates of the tree's joints that have the discrete momentum at the knot."""
        momentum = recursion.momenta(self.tree.links, self._joints, self._momentum)
        return self._respond(momentum + self._impulse)

    def _respond(self, impulse: Array) -> Array:
        """Return the rates (dofs,) that impulses give to the tree at the knot: M^-1 p."""
        result: Array = recursion.solve(self.tree.links, self._joints, self._factors, impulse)
        return result

    def _advance(self) -> None:
        incoming, impulse = self._momentum + self._weight, self._impulse + self._spring
        missing = Missing(self.tree, self._joints, incoming, impulse, self._q, self.timestep)
        q = self._first_guess()
        f = missing(q)
        while not np.linalg.norm(f) <= self.tolerance:
            if self.iterations == GIVEN_UP or not np.isfinite(f).all():
                raise self._error(f"no solution in {self.iterations} iterations")
            self.iterations += 1
            q = self.tree.integrate_rates(q, self._correction(missing, f))
            f = missing(q)
        brought = discrete.bring_along(missing.moved)
        self._enter(q)
        self.factorisations += 1
        self._momentum = brought + self._weight
        self._impulse = self._spring + missing.damped

    def _first_guess(self) -> Array:
        if self.guess == "IG1":
            return self._q
        tree, rates = self.tree, self.velocities
        h = self.timestep
        if self.guess == "IG3":
            joints = tree.joints(self._q, rates)
            bias = recursion.rnea(tree.links, joints, rates, np.zeros(tree.dofs), tree.gravity)
            rates = rates + self._respond(self._spring - 0.5 * h * bias)
        return tree.integrate_rates(self._q, h * rates)

    @abstractmethod
    def _correction(self, missing: Missing, f: Array) -> Array:
        """Return a displacement (dofs,) of the coordinates by which `missing` gets smaller."""


class Riqn(Variational):
    """Recursive impulse-based quasi-Newton method, O(n): impulses act on the tree (LEE 25)."""

    name = "riqn"

    def _correction(self, missing: Missing, f: Array) -> Array:
        return -self.timestep * self._respond(f)


class Newton(Variational):
    """Newton's method with the exact derivative, O(n^3)."""

    name = "newton"

    def _correction(self, missing: Missing, f: Array) -> Array:
        self.factorisations += 1
        return np.asarray(np.linalg.solve(missing.derivative(), -f), np.float64)


class Broyden(Variational):
    """Broyden's method, O(n^2) an iteration, from the exact derivative at the first guess."""

    name = "broyden"

    _inverse: Array
    _last: tuple[Array, Array]  # correction, and the impulses that it was to supply

    def _correction(self, missing: Missing, f: Array) -> Array:
        if self.iterations == 1:
            self._inverse = np.linalg.inv(missing.derivative()).astype(np.float64)
            self.factorisations += 1
        else:
            step, before = self._last
            answer = self._inverse @ (f - before)
            row = step @ self._inverse
            self._inverse = self._inverse + np.outer(step - answer, row) / (step @ answer)
        correction: Array = -self._inverse @ f
        self._last = correction, f
        return correction


class ThirdOrder(JointCoordinates):
    """Variational integrator of third order, O(n) an iteration (MC Fig. 8, SIM Fig. 10).

    Coordinates are a parabola over a step, through its middle; the action is its integral by
    Radau's rule of two points. Impulses that start and middle lack act on the tree, as in RIQN, in
    the combinations that correct a parabola. `tolerance` as there.
    """

    name = "third-order"
    order = 3
    knows = frozenset((SPRINGS,))
    points: ClassVar[Array] = np.array([1.0 / 3.0, 1.0])  # parts of a step
    weights: ClassVar[Array] = np.array([0.75, 0.25])

    def _prepare(self) -> None:
        super()._prepare()
        t = self.points[:, None]
        # start, middle and end of the parabola: their shares of coordinates and of rates
        self._shares = np.hstack([(2 * t - 1) * (t - 1), 4 * t * (1 - t), t * (2 * t - 1)])
        self._slopes = np.hstack([4 * t - 3, 4 - 8 * t, 4 * t - 1]) / self.timestep
        self._parts = self.weights * self.timestep
        mass = self._slopes[:, :2].T @ (self._parts[:, None] * self._slopes[:, 1:])
        self._mobility = np.linalg.inv(mass)

    def _start(self, q: Array, rates: Array) -> None:
        self._q = q
        self._joints, self._factors = self.tree.factor(q)
        _, self._momentum = self._gradient(q, rates)

    def _gradient(self, q: Array, rates: Array) -> tuple[Array, Array]:
        """Return the derivatives (dofs,) of the Lagrangian by coordinates and by rates."""
        tree, joints = self.tree, self.tree.joints(q, rates)
        by_q, by_rates = recursion.lagrangian_gradient(tree.links, joints, rates, tree.gravity)
        return by_q + tree.forces(q, np.zeros(tree.dofs)), by_rates

    def _respond(self, impulse: Array) -> Array:
        result: Array = recursion.solve(self.tree.links, self._joints, self._factors, impulse)
        return result

    @property
    def velocities(self) -> Array:
        """Rates of the tree's joints that have the discrete momentum at the knot."""
        return self._respond(self._momentum)

    def _action_slopes(self, nodes: Array) -> Array:
        """Return the derivatives of the action (3, dofs) by start, middle and end (3, dofs)."""
        slopes = np.zeros_like(nodes)
        for part, share, slope in zip(self._parts, self._shares, self._slopes, strict=True):
            by_q, by_rates = self._gradient(share @ nodes, slope @ nodes)
            slopes += part * (np.outer(share, by_q) + np.outer(slope, by_rates))
        return slopes

    def _advance(self) -> None:
        h, rates = self.timestep, self.velocities
        accelerations = self.tree.accelerations(self._q, rates)
        times = np.array([[0.0], [0.5 * h], [h]])
        nodes = self._q + times * rates + 0.5 * times**2 * accelerations
        while True:
            slopes = self._action_slopes(nodes)
            f = np.stack([slopes[0] + self._momentum, slopes[1]])
            if np.linalg.norm(f) <= self.tolerance:
                break
            if self.iterations == GIVEN_UP or not np.isfinite(f).all():
                raise self._error(f"no solution in {self.iterations} iterations")
            self.iterations += 1
            nodes[1:] -= self._mobility @ np.stack([self._respond(each) for each in f])
        self._q, self._momentum = nodes[2], slopes[2]
        self._joints, self._factors = self.tree.factor(self._q)
        self.factorisations += 1

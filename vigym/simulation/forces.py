"""Forces that a simulator applies, and those of motors and imposed motions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.simulation.plant import Plant
from vigym.simulation.state.inputs import vector_rows
from vigym.simulation.state.readings import Readings

FRAMES = ("world", "body")


class Forces:
    """Held wrenches, and the forces of motors, prescribed motions and velocity constraints.

    Args:
        plant: mechanism and memory.
        readings: its readings, which a new wrench makes void.
    """

    def __init__(self, plant: Plant, readings: Readings) -> None:
        self._plant = plant
        self._readings = readings

    def apply(
        self,
        body: str,
        force: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        point: ArrayLike | None = None,
        *,
        frame: str = "world",
        mask: ArrayLike | None = None,
    ) -> None:
        """Hold a force and a torque on a body, in place of the last ones, until a reset.

        They act from the next step on. Their work counts in `work_actuator` of the metrics. The
        first call makes room for them in the state, whose columns become more; the kernels for it
        compile once.

        Args:
            body: body name.
            force: (3,) or (batch, 3) [N]; None: zero.
            torque: (3,) or (batch, 3) [N m]; None: zero.
            point: where the force acts, in the body frame from the centre of mass (3,) or (batch,
                3) [m]; None: the centre of mass.
            frame: "world": directions stay in the world; "body": they turn with the body.
            mask: (batch,) environments to change, all by default; (1,) without a batch.

        Raises:
            MechanismError: an unknown body.
            ValueError: a wrong shape, frame or mask, numbers that are not finite, or steps in
                single precision. The state is then unchanged.
        """
        plant = self._plant
        checks.require_one_of(body, plant.mechanism.bodies, "apply: body")
        checks.require_one_of(frame, FRAMES, "apply: frame")
        environments = plant.mask(mask)
        if plant.options.precision != "float64":
            raise ValueError('apply: found precision="float32", expected "float64"')
        given = {"force": force, "torque": torque, "point": point}
        parts = [
            vector_rows(
                (0.0, 0.0, 0.0) if value is None else value, plant.count, plant.single, name
            )
            for name, value in given.items()
        ]
        none = np.zeros((plant.count, 6))
        wrench = [*parts[:2], none] if frame == "world" else [none, *parts[:2]]
        plant.hold_wrench(body, np.hstack([*wrench, parts[2]]), environments)
        self._readings.clear()

    @property
    def motions(self) -> Array:
        """Forces of prescribed motions (..., n) [N, N m] where the last step began.

        In the order of ``mechanism.motions``; zero before the first step.
        """
        motions = len(self._plant.mechanism.motions)
        return self._plant.squeeze(self._plant.motion_forces[:, :motions])

    @property
    def motors(self) -> Array:
        """Forces of all motors (..., n) in the last step [N, N m], as ``mechanism.motor_names``.

        Motors of joints, along curves, and along coordinates of joints of your own; zero before the
        first step.
        """
        return self._plant.squeeze(self._plant.motor_forces)

    @property
    def velocity_constraints(self) -> Array:
        """Forces of velocity constraints (..., n) where the last step began.

        In the order of ``mechanism.velocity_constraints``; zero before the first step. Times the
        weights, or the pushes, of a body it is the force [N] and the torque [N m] on it.
        """
        motions = len(self._plant.mechanism.motions)
        return self._plant.squeeze(self._plant.motion_forces[:, motions:])

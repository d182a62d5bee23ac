"""States of a simulator as those of MuJoCo, or of a loaded mechanism, that has the file of its mechanism."""

import numpy as np

from oracle.naive_joints import conj, mul
from scenes.trees import assembly


def state(mech, sim, joints):
    """Yield name, positions and velocities of the joints that a file has; `joints` are their names."""
    q, v = list(sim.joint_positions), list(sim.joint_velocities)
    for joint in mech.ordered_joints:
        row = joint.joint_type
        own, q = np.array(q[: len(row.positions)]), q[len(row.positions) :]
        rates, v = np.array(v[: row.dofs]), v[row.dofs :]
        name = joint.name.replace(":floating", "_joint")
        count = len(row.translations) if row.has_quaternion else row.dofs
        singles = [joint.name] if row.dofs == 1 else joint.position_names[:count]
        if row.dofs == 6 and singles[0] not in joints:
            yield name, own, rates
            continue
        if row.dofs == 6:  # as slides and a ball, which count from the assembly
            place, turn = assembly(mech, joint)
            own = np.append(own[:3] - place, mul(conj(turn), own[3:]))
        for k, single in enumerate(singles):
            if single in joints:
                yield single, own[k], rates[k]
        if row.has_quaternion and name in joints:
            yield name, own[count:], rates[count:]


def data_of(model, mech, sim):
    """MuJoCo's data of a model of what is written, in the state of the simulator."""
    import mujoco

    data = mujoco.MjData(model)
    names = {model.jnt(k).name for k in range(model.njnt)}
    for name, positions, velocities in state(mech, sim, names):
        body = name.removesuffix("_joint")  # one that floats, whose joint has no name
        joint = data.joint(name if name in names else int(model.body(body).jntadr[0]))
        joint.qpos[:], joint.qvel[:] = positions, velocities
    mujoco.mj_forward(model, data)
    return data


def loop_gap(data):
    """Largest error of an equality [m, rad]."""
    import mujoco

    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    return float(np.abs(data.efc_pos[rows]).max(initial=0.0))

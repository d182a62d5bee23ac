"""Tables of the state, from which the next step starts."""

from vigym.core.tables.table import Field, Table

ENVIRONMENT_STATE = Table(
    Field("time", "time since the reset", "s"),
    Field("step_size", "size of the last step", "s"),
    Field("previous_step_size", "size of the step before", "s"),
    Field("history", "number of equal smooth steps that lie behind", "1"),
    Field("missed_starts", "1, 3, 7 ... after steps in a row that the first method missed", "1"),
    Field("interior_steps", "number of next steps that begin with the interior point", "1"),
    Field("unpolished", "whether projections missed what the interior point last found", "mask"),
    Field("held_steps", "number of next steps that do not lead bodies back to their bounds", "1"),
    Field("last_held_steps", "1, 3, 7 ... steps held since they could not be led back", "1"),
    Field("releases", "whether these steps release bodies that are deep in each other", "mask"),
    Field("rebound_energy", "energy that rebounds of the next step may give", "J"),
    Field("dissipated", "energy that dampers, friction, limits and contacts took", "J"),
    Field("work", "work of actuators and motors", "J"),
    Field("absolute_work", "sum of the absolute work of actuators and motors", "J"),
    Field("angular_speed", "largest angular speed of a body in the last step", "rad/s"),
    Field("swept", "bound of the rotation since full turns were counted", "rad"),
    Field("whole_step_size", "size of the last whole step, of one part or more", "s"),
    Field("first_part", "part of a step that the next begins with", "1"),
    Field("calm_steps", "number of steps since that part was chosen", "1"),
    Field("calm_steps_needed", "number of such steps after which parts are doubled", "1"),
    Field("terrain_map", "number of the map of heights", "1"),
    Field("present_knot", "number of the knot buffer that is the present one", "1"),
    Field("time_remainder", "rounding that is left of the time", "s"),
    Field("dissipated_remainder", "rounding that is left of the dissipated energy", "J"),
    Field("work_remainder", "rounding that is left of the work", "J"),
    Field("absolute_work_remainder", "rounding that is left of the absolute work", "J"),
)
DOF_STATE = Table(
    Field("last_torque", "torque that the caller applied in the last step", "N or N m"),
    Field("cosine", "cosine of the angle; w of the quaternion of a ball joint", "1"),
    Field("sine", "sine; translation; length of a point spring; x, y, z of a quaternion", "1 or m"),
    Field("turns", "number of full turns", "1"),
    Field(
        "last_momentum_rate",
        "momentum of an armature over its inertia, of the last step",
        "m/s or rad/s",
    ),
    Field("last_rate", "rate over the last step", "m/s or rad/s"),
    Field(
        "slow_rate", "mean of past rates without vibrations: half the last, a quarter ...", "same"
    ),
    Field("last_spring_force", "force of the spring in the last step", "N or N m"),
    Field("last_motor_force", "force of the motor in the last step", "N or N m"),
    Field("last_limit_force", "force of the limits in the last step", "N or N m"),
    Field("last_friction_force", "dry friction in the last step", "N or N m"),
    Field("last_target", "target of the motor in the last step", "m, rad, m/s or rad/s"),
)
LOOP_ROW_STATE = Table(
    Field("last_multiplier", "multiplier of the last step", "N or N m"),
)
CONTACT_STATE = Table(
    Field("last_force", "last force: normal, tangents over friction, torque over its own", "N", 4),
    Field("rebound_velocity", "normal velocity of a rebound that is due", "m/s"),
    Field("last_world_force", "last step's force on the body", "N, world", 3),
)
WRENCH_STATE = Table(
    Field("force", "held force at the point", "N, world", 3),
    Field("torque", "held torque", "N m, world", 3),
    Field("body_force", "held force at the point that turns with the body", "N, body", 3),
    Field("body_torque", "held torque that turns with the body", "N m, body", 3),
    Field("application", "point of the forces, from the centre of mass", "m, body", 3),
    Field("last_applied_force", "force of the last step", "N, world", 3),
    Field("last_applied_torque", "torque of the last step", "N m, world", 3),
    Field("last_body_force", "body_force of the last step", "N, body", 3),
    Field("last_body_torque", "body_torque of the last step", "N m, body", 3),
    Field("last_application", "application of the last step", "m, body", 3),
    Field("knot_force", "force at the first knot of the last step", "N, world", 3),
    Field("knot_torque", "torque there about the centre of mass", "N m, body", 3),
)
MOTION_STATE = Table(
    Field(
        "value", "prescribed coordinate; of a velocity what the call's step has made", "m or rad"
    ),
    Field("value_rate", "its rate", "m/s or rad/s"),
)
SIDE_STATE = Table(
    Field("place", "parameters at the present knot", "1, rad or m", 3),
)
POSE_STATE = Table(
    Field("position", "centre of mass", "m, world", 3),
    Field("orientation", "unit quaternion (w, x, y, z), body to world", "1", 4),
    Field("rotation", "rotation matrix of the orientation", "1", 9),
    Field("anchor", "anchor of the joint that carries the body", "m, world", 3),
    Field("arm", "from the centre of mass to the anchor", "m, world", 3),
    Field("axis", "axis of the joint that is fixed in the body", "world", 3),
    Field("velocity", "half-step velocity that led to this knot", "m/s, world", 3),
    Field("angular_velocity", "2 e/h of the step that led to this knot", "rad/s, body", 3),
    Field("cosine", "scalar part of the quaternion of the step that led to this knot", "1"),
)

# a curve or surface joint or a slide has no pose: its row in a knot buffer, as wide, holds other
# numbers; the anchor is in its place
TRACK_STATE = Table(
    Field("row_0", "direction of row 0: force, moment about the anchor", "1 or 1/m, world", 6),
    Field("row_1", "direction of row 1", "1 or 1/m, world", 6),
    Field("gaps", "residuals of the rows; coordinate of a slide", "m or 1", 4),
    Field("track_anchor", "anchor of the joint", "m, world", 3),
    Field("row_2", "direction of row 2", "1 or 1/m, world", 6),
    Field("row_3", "direction of row 3", "1 or 1/m, world", 6),
    Field("determinant", "of the equations of the place; 0 where it is not found", "any"),
)
assert TRACK_STATE.width == POSE_STATE.width
assert TRACK_STATE.offset("track_anchor") == POSE_STATE.offset("anchor")

"""Fields of the data model: one line each with name, meaning, unit and width.

There are four flat arrays. A row of a kind, for example a degree of freedom, has fields in several
of them; kernels read them all by name from one row object, see `vigym.core.compiler.rows`.

========  =========  ==============================================================================
array     changes    content
========  =========  ==============================================================================
plan      never      integers: header, a row per joint, lists of actuators, loop rows, contacts ...
model     never      constants, per lane group
state     each step  what the next step starts from, per lane group
work      scratch    what a step computes on its way, per thread
========  =========  ==============================================================================

Row 0 of the bodies is the world, a row without unknowns. Row i hangs on row ``parent`` < i, and has
the fields of the joint that carries body i as well. A *loop* is a loop-closing joint or a spring
between two points. Behind the bodies each loop has a row of its own, like a body's. A *loop row* is
one scalar equation of a loop, of a coupling or of a contact of two bodies. On its way to the body
where it is eliminated, it has a *fill-in row* at every body between.

Float tables are laid out ``[row // s][field][lane]``, see `vigym.core.compiler.simd`.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Field:
    """Named entry of a table row.

    Attributes:
        name: how kernels and Python read it.
        meaning: a phrase.
        unit: of its values, "1" for pure numbers, "row" for the unit of a loop row; unit vectors
            may name their frame alone. Empty in the plan, whose entries are integers.
        width: how many numbers it has.
        indexed: whether kernels read its numbers one by one, ``row.field[j]``.
        feature: what a mechanism has to have for the entry not to be zero, None if it may always
            be.
        refers: whether it is the number of another row, which rows that are alike each have of
            their own.
        steps: whether these numbers follow each other, in consecutive rows that are alike.
    """

    name: str
    meaning: str
    unit: str = ""
    width: int = 1
    indexed: bool = False
    feature: str | None = None
    refers: bool = False
    steps: bool = False


class Table:
    """Fields of a row in one of the arrays, in the order of memory."""

    def __init__(self, *fields: Field, kind: type = np.float64) -> None:
        self.fields = {field.name: field for field in fields}
        self.names = tuple(self.fields)
        ends = np.cumsum([0, *(field.width for field in fields)]).tolist()
        self._offsets = dict(zip(self.names, ends, strict=False))
        self.width: int = ends[-1]
        self._kind = kind
        self.dtype = np.dtype(
            [(f.name, kind, (f.width,)) if f.width > 1 else (f.name, kind) for f in fields]
        )

    def offset(self, name: str) -> int:
        """Place of a field's first number in a row."""
        return self._offsets[name]

    def columns(self, name: str) -> slice:
        """Return the places of a field's numbers in a row."""
        start = self._offsets[name]
        return slice(start, start + self.fields[name].width)

    def feature(self, name: str) -> str | None:
        """Return the feature that a field belongs to."""
        return self.fields[name].feature

    def rows(self, count: int) -> np.ndarray:
        """Make structured rows (count,) of zeros: ``rows["mass"]`` reads and writes a field."""
        return np.zeros(count, self.dtype)

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """View structured rows (n,) as numbers (n, width)."""
        return rows.view(self._kind).reshape(len(rows), self.width)


# --- the plan -------------------------------------------------------------------------------------
HEADER = Table(
    Field("body_count", "number of bodies, the world included"),
    Field("dof_count", "degrees of freedom of all joints, and one of each point spring"),
    Field("position_count", "number of joint coordinates"),
    Field("velocity_count", "number of joint velocities"),
    Field("actuator_count", "number of degrees of freedom that torques drive"),
    Field("active_joint_count", "number of joints whose coordinates or rates set forces"),
    Field("joint_count", "joints plus one: the world, tree joints, loop-closing joints"),
    Field("unstored_block_count", "number of bodies without a stored block", feature="plain"),
    Field("loop_count", "loops: loop-closing joints and point springs", feature="loops"),
    Field("first_loop", "row of the first loop in the tables of bodies"),
    Field("loop_row_count", "number of loop rows", feature="loops"),
    Field("fill_in_count", "number of fill-in rows", feature="loops"),
    Field("schur_count", "number of elements kept of the triangle of S", feature="loops"),
    Field("contact_count", "number of contacts, skates and wheels", feature="contacts"),
    Field("rim_count", "number of first contacts of rims", feature="contacts"),
    Field("contact_slot_count", "number of slots of contacts in the float tables"),
    Field("contact_block_count", "number of blocks of contacts that are alike", feature="packs"),
    Field("aligned_block_count", "number of these that are aligned with bodies", feature="packs"),
    Field("first_lone_contact", "first contact that is in no block", feature="packs"),
    Field("first_unaligned_contact", "first contact that is not aligned", feature="packs"),
    Field("first_lone_joint", "first active joint behind those that are alike", feature="packs"),
    Field("motor_count", "number of motors"),
    Field("has_bounded_forces", "whether any joint has a motor, limits or dry friction"),
    Field("has_limits", "whether any joint has limits"),
    Field("pyramid", "whether friction has the four-sided cone"),
    Field("interior_point", "whether the interior point solves contacts", feature="contacts"),
    Field("interrupted", "whether calls of the step stop before their next one"),
    Field("contact_row_count", "loop rows that contacts of two bodies have", feature="loops"),
    Field("terrain_columns", "grid points of the terrain along x", feature="terrain"),
    Field("terrain_rows", "grid points of the terrain along y", feature="terrain"),
    Field("wrench_count", "bodies with held wrenches, the world included", feature="imposed"),
    Field("motion_count", "prescribed motions and velocity constraints", feature="imposed"),
    Field("potential_count", "number of potentials", feature="imposed"),
    Field("track_count", "number of curve and surface joints", feature="tracks"),
    Field("slide_count", "number of slides along curves and patches", feature="tracks"),
    Field("more_count", "number of joints with a second row in knot buffers", feature="tracks"),
    Field("model_bodies", "start of a table in the model"),
    Field("model_dofs", "start of a table in the model"),
    Field("model_loop_rows", "start of a table in the model"),
    Field("model_contacts", "start of a table in the model"),
    Field("model_terms", "start of a table in the model"),
    Field("state_dofs", "start of a table in the state"),
    Field("state_loop_rows", "start of a table in the state"),
    Field("state_contacts", "start of a table in the state"),
    Field("state_wrenches", "start of a table in the state"),
    Field("state_motions", "start of a table in the state"),
    Field("state_sides", "start of a table in the state"),
    Field("state_knots", "start of the knot buffers in the state"),
    Field("knot_size", "slots of a knot buffer"),
    Field("state_size", "slots of the state of a lane group"),
    Field("work_dofs", "start of a table in the work"),
    Field("work_loop_rows", "start of a table in the work"),
    Field("work_fill_ins", "start of a table in the work"),
    Field("work_schur", "start of a table in the work"),
    Field("work_contacts", "start of a table in the work"),
    Field("work_motions", "start of a table in the work"),
    Field("work_sides", "start of a table in the work"),
    Field("work_environment", "start of a table in the work"),
    Field("factors_size", "slots of all that a factorisation writes"),
    Field("kept_state", "start in the work of two knot buffers and a state that are kept aside"),
    Field("work_size", "slots of the work of a thread"),
    Field("plan_actuators", "start of a list in the plan"),
    Field("plan_active_joints", "start of a list in the plan"),
    Field("plan_loop_rows", "start of a list in the plan"),
    Field("plan_fill_ins", "start of a list in the plan"),
    Field("plan_contacts", "start of a list in the plan"),
    Field("plan_contact_slots", "start of a list in the plan"),
    Field("plan_motors", "start of a list in the plan"),
    Field("plan_terrain", "start of the terrain's floats in the plan"),
    Field("plan_motions", "start of a list in the plan"),
    Field("plan_terms", "start of a list in the plan"),
    Field("plan_potentials", "start of a list in the plan"),
    Field("plan_tracks", "start of a list in the plan"),
    Field("plan_sides", "start of a list in the plan"),
    Field("plan_slides", "start of a list in the plan"),
    Field("model_tracks", "start of a table in the model"),
    Field("model_sides", "start of a table in the model"),
    Field("model_points", "start of a table in the model"),
    Field("model_slides", "start of a table in the model"),
    Field("point_count", "number of coefficients of curves and surfaces"),
    kind=np.int64,
)
BODY_PLAN = Table(
    Field("parent", "row of the body that the joint hangs on; of a loop its body a", refers=True),
    Field("child", "row of the body that the joint carries; of a loop its body b", refers=True),
    Field("first_dof", "first degree of freedom of the joint", refers=True, steps=True),
    Field("translation_count", "number of free translations"),
    Field("rotation_count", "number of free rotations"),
    Field("first_position", "first of the joint's coordinates in the caller's arrays"),
    Field("first_velocity", "first of the joint's velocities in the caller's arrays"),
    Field("has_rate_force", "whether damping, armature or torques on a ball joint act"),
    Field("has_spring", "whether the joint has a spring"),
    Field("pivot_kind", "elimination: GENERAL_PIVOT, HINGE_PIVOT or BALL_PIVOT"),
    Field("first_loop_row", "first of the loop rows eliminated at the body, or of the loop"),
    Field("loop_row_count", "number of these loop rows", feature="loops"),
    Field(
        "first_fill_in", "first of the fill-in rows of rows that pass it", refers=True, steps=True
    ),
    Field("fill_in_count", "number of these fill-in rows", feature="loops"),
    Field("fill_in_step", "from one of these fill-in rows to the next"),
    Field("block_kind", "STORED_BLOCK, LEAF_BLOCK or CHAIN_BLOCK"),
    Field("run_first", "first of the bodies that are eliminated together", feature="packs"),
    Field("run_end", "row after the last of them; 0 of a body by itself", feature="packs"),
    Field("run_shares_parent", "whether they hang on one body", feature="packs"),
    Field("motor_kind", "NO_MOTOR, PD_MOTOR or DC_MOTOR"),
    Field("has_limit", "whether the joint has limits"),
    Field("has_friction", "whether the joint has dry friction"),
    Field("has_forces", "whether torques, coordinates or rates set forces on the joint"),
    Field("has_coordinate_force", "whether springs, motors, limits, friction or couplings act"),
    kind=np.int64,
)
ACTUATOR_PLAN = Table(
    Field("body", "row of the body whose joint is driven"),
    Field("joint_dof", "which of the joint's degrees of freedom is driven"),
    Field("dof", "row of that degree of freedom"),
    kind=np.int64,
)
ACTIVE_JOINT_PLAN = Table(
    Field("body", "row of the body or loop whose coordinates or rates set forces"),
    kind=np.int64,
)
MOTION_PLAN = Table(
    Field("loop_row", "loop row that imposes the motion"),
    Field("first_term", "first term of a velocity constraint"),
    Field("term_count", "number of its terms, 0 of a motion of a degree of freedom"),
    Field("does_work", "whether its force acts along directions of its own"),
    kind=np.int64,
)
TERM_PLAN = Table(
    Field("body", "row of the body whose velocity counts"),
    Field("frame", "row of the body that the directions are fixed in, 0 the world"),
    Field("body_fill_in", "fill-in row at the body"),
    Field("frame_fill_in", "fill-in row at the frame's body, -1 for the world"),
    kind=np.int64,
)
POTENTIAL_PLAN = Table(
    Field("body", "row of the body that it acts on"),
    Field("function", "address of the compiled function"),
    kind=np.int64,
)
TRACK_PLAN = Table(
    Field("loop", "row of the joint in the tables of bodies"),
    Field(
        "row_count",
        "of surfaces 1, with a locked turn 2, an axis 3; of a curve 2, an axis 4; of the user's",
    ),
    Field("on_curve", "whether a point stays on a curve"),
    Field("function", "address of the compiled transform of a joint of the user's, else 0"),
    Field("more", "row of its fifth constraint in the knot buffers"),
    Field("first_slide", "first of its slides"),
    Field("slide_count", "number of its slides"),
    kind=np.int64,
)
SIDE_PLAN = Table(
    Field("body", "row of the body"),
    Field("kind", "POINT_SIDE, HELIX_SIDE, CURVE_SIDE, PLANE_SIDE, ELLIPSOID_SIDE or PATCH_SIDE"),
    Field("dimensions", "number of its parameters: 0 of a point, 1 of a curve, 2 of a surface"),
    Field("first_point", "first of its coefficients"),
    Field("pieces", "number of pieces of a curve, or of a patch along its first parameter"),
    Field("second_pieces", "number of pieces of a patch along its second parameter"),
    Field("degree", "degree of a curve, or of a patch along its first parameter"),
    Field("second_degree", "degree of a patch along its second parameter"),
    Field("closed", "whether a curve, or a patch along its first parameter, is closed"),
    Field("second_closed", "whether a patch is closed along its second parameter"),
    kind=np.int64,
)
SLIDE_PLAN = Table(
    Field("loop", "row of the slide in the tables of bodies"),
    Field("track", "curve or surface joint"),
    Field("parameter", "which of its parameters: two of side a, two of side b"),
    kind=np.int64,
)
LOOP_ROW_PLAN = Table(
    Field("kind", "COUPLED_, POSITION_, ORIENTATION_, COMPLIANT_... or another ..._ROW"),
    Field("owner", "row of the loop; of a coupling the body of its first dof; or the contact"),
    Field("dof", "degree of freedom that yields, or the first one that is coupled; else -1"),
    Field("endpoint_a", "fill-in row at body a, -1 for the world"),
    Field("endpoint_b", "fill-in row at body b, -1 for the world"),
    Field("at_closing_body", "fill-in row where the row is eliminated, -1 for the world"),
    Field("profile_start", "first loop row that it couples with"),
    Field("profile_end", "last loop row that it couples with"),
    Field("schur_start", "where its elements of S start, less profile_start"),
    Field("other_body", "row of body b"),
    Field("other_dof", "second degree of freedom that is coupled, else -1"),
    kind=np.int64,
)
FILL_IN_PLAN = Table(
    Field("loop_row", "the loop row that passes", refers=True),
    Field("parent_fill_in", "fill-in row at the parent, -1 for none"),
    Field("adds", "whether it is added to what the parent's fill-in row holds already"),
    kind=np.int64,
)
CONTACT_PLAN = Table(
    Field("body", "row of the body that touches", refers=True),
    Field("kind", "BALL_CONTACT, RIM_..._CONTACT, PAIR_..._CONTACT, SKATE or WHEEL"),
    Field("tangents_follow_body", "whether the tangents turn with the body"),
    Field("has_torsion", "whether the contact resists spin about its normal"),
    Field("partner", "row of the body that is touched, 0 for the ground", refers=True),
    Field("first_loop_row", "first of the three loop rows of a contact of two bodies, else -1"),
    Field("plane_number", "which plane of the terrain it touches", feature="terrain"),
    Field("membership", "of a block: LONE, IN_BLOCK or ALIGNED", feature="packs"),
    kind=np.int64,
)
# in one environment: contacts by themselves, in a block of alike ones, in the lanes of their bodies
LONE, IN_BLOCK, ALIGNED = range(3)

NO_MOTOR, PD_MOTOR, DC_MOTOR = range(3)
# how a joint's dofs are eliminated: one by one, a single rotation, three rotations at once
GENERAL_PIVOT, HINGE_PIVOT, BALL_PIVOT = range(3)
# where the elimination finds a body's block: in memory, where its children have added to it; the
# body's own block alone; the same and what the body after it leaves, its only child
STORED_BLOCK, LEAF_BLOCK, CHAIN_BLOCK = range(3)
# a coupling of two dofs; rows of a curve or surface joint; rigid rows of a loop; rows of a loop or
# slide that yield; one of three rows of a contact; a dof with a prescribed motion; a constraint of
# velocities of bodies
(
    COUPLED_ROW,
    TRACK_ROW,
    POSITION_ROW,
    ORIENTATION_ROW,
    COMPLIANT_POSITION_ROW,
    COMPLIANT_ORIENTATION_ROW,
    COMPLIANT_LENGTH_ROW,
    COMPLIANT_SLIDE_ROW,
    CONTACT_ROW,
    PRESCRIBED_ROW,
    VELOCITY_ROW,
) = range(11)
POINT_SIDE, HELIX_SIDE, CURVE_SIDE, PLANE_SIDE, ELLIPSOID_SIDE, PATCH_SIDE = range(6)
# a ball (without radius: a point); a rim's lowest point and those a quarter turn on; of two bodies:
# a ball, the nearest point of a segment and both its ends with a rounded box; nonholonomic
# constraints. Their order counts: up to RIM_CONTACT a contact with the ground is where the body is
# lowest, also while it moves (``lowest_point_at_knot3``); those of a rim, those of two bodies, and
# those from SKATE on, which do not press, are ranges that kernels compare with
(
    BALL_CONTACT,
    RIM_CONTACT,
    RIM_QUARTER_CONTACT,
    RIM_HALF_CONTACT,
    RIM_THREE_QUARTER_CONTACT,
    PAIR_BALL_CONTACT,
    PAIR_NEAREST_CONTACT,
    PAIR_HEAD_CONTACT,
    PAIR_TAIL_CONTACT,
    SKATE,
    WHEEL,
) = range(11)

# planes of a terrain that a ball or rim may touch at once, each by a contact of its own
PLANES = 3
# floats of a terrain in the plan: edge of its square cells [m], x and y of its first point [m], its
# largest height [m]; then the heights [m] of each map, point by point along y, column by column
CELL_SIZE, FIRST_X, FIRST_Y, LARGEST_HEIGHT, HEIGHTS = range(5)

# --- constants ------------------------------------------------------------------------------------
ENVIRONMENT_MODEL = Table(
    Field("gravity", "acceleration of free fall", "m/s^2, world", 3),
    Field("force_scale", "force that residuals are measured by", "N"),
    Field("length_scale", "length that residuals are measured by", "m"),
    Field("ground_normal", "unit normal of the ground", "world", 3),
    Field("ground_tangent", "unit tangent of the ground", "world", 3),
    Field("ground_height", "height of the ground along its normal", "m"),
)
BODY_MODEL = Table(
    Field("mass", "mass of the body", "kg"),
    Field("inertia", "inertia about the centre of mass: xx yy zz xy xz yz", "kg m^2, body", 6),
    Field("child_anchor", "joint anchor in the child, from its centre of mass", "m, child", 3),
    Field("parent_anchor", "joint anchor in the parent, from its centre of mass", "m, parent", 3),
    Field("child_axis", "joint axis fixed in the child", "child", 3),
    Field("parent_axis", "joint axis fixed in the parent", "parent", 3),
    Field("joint_orientation", "orientation of the child in the parent at zero", "quaternion", 4),
    Field("translation_axes", "directions of the free translations", "parent", 9, indexed=True),
    Field("parent_lever", "from the parent's own anchor to the joint's anchor", "m, parent", 3),
    Field("reference_quaternion", "coordinate of a ball joint at the assembly", "quaternion", 4),
)
DOF_MODEL = Table(
    Field("damping", "viscous damping", "N s/m or N m s/rad"),
    Field("stiffness", "stiffness of the spring", "N/m or N m/rad"),
    Field("rest", "coordinate or length at which the spring is slack", "m or rad"),
    Field("armature", "inertia of the drive, seen at the joint", "kg or kg m^2"),
    Field("effort", "largest torque that the caller may apply", "N or N m"),
    Field("lower", "lower limit of the coordinate", "m or rad"),
    Field("upper", "upper limit of the coordinate", "m or rad"),
    Field("friction", "dry friction", "N or N m"),
    Field("effective_mass", "inertia that a force on the dof meets, for scale", "kg or kg m^2"),
    Field("kp", "position gain of the motor", "N/m or N m/rad"),
    Field("kd", "rate gain of the motor", "N s/m or N m s/rad"),
    Field("force_limit", "largest force of the motor", "N or N m"),
    Field("velocity_limit", "largest rate that the motor drives to", "m/s or rad/s"),
    Field("voltage", "largest voltage of a DC motor", "V"),
    Field("resistance", "resistance of a DC motor", "Ohm"),
    Field("back_emf", "back-EMF constant of a DC motor", "V s/rad"),
    Field("currents", "currents of a DC motor's saturation curve", "A", 8, indexed=True),
    Field("torques", "torques of a DC motor's saturation curve", "N m", 8, indexed=True),
)
LOOP_ROW_MODEL = Table(
    Field("vector_a", "vector of the constraint fixed in body a", "body a", 3),
    Field("vector_b", "vector of the constraint fixed in body b", "body b", 3),
    Field("ratio", "ratio of a coupling", "1, m/rad or rad/m"),
    Field("offset", "offset of a coupling", "m or rad"),
)
TERM_MODEL = Table(
    Field("linear", "weight of the velocity of the centre of mass", "row/m, frame", 3),
    Field("angular", "weight of the angular velocity", "row/rad, frame", 3),
    Field("push", "force of the row's unit multiplier", "1 or 1/m, frame", 3),
    Field("push_torque", "torque of the row's unit multiplier", "m or 1, frame", 3),
)
TRACK_MODEL = Table(
    Field("offset", "distance that both sides keep", "m"),
    Field("sense", "1 or -1: the side of surface a on which the other one is", "1"),
    Field("track_axis", "direction in body b along curve or normal", "body b", 3),
    Field("locked_cosine", "cosine of the angle about the normal, where it is locked", "1"),
    Field("locked_sine", "its sine", "1"),
)
SIDE_MODEL = Table(
    Field("origin", "origin of the curve or surface, from the centre of mass", "m, body", 3),
    Field("frame", "its axes in the body, as a rotation matrix", "1", 9),
    Field("sizes", "radius and rise per rad of a helix; semi-axes of an ellipsoid", "m", 3),
    Field("start_place", "parameters at the assembly pose", "1, rad or m", 3),
    Field("longest_change", "largest change of a parameter in an iteration", "1, rad or m"),
)
POINT_MODEL = Table(
    Field("coefficient", "of a polynomial; then lengths of a curve up to its pieces", "m", 3),
)
SLIDE_MODEL = Table(
    Field("per_parameter", "coordinate of a patch per unit of the parameter", "m"),
)
CONTACT_MODEL = Table(
    Field("point", "point in the body, from its centre of mass", "m, body", 3),
    Field("radius", "radius of the ball or rim about the point", "m"),
    Field("rim_axis", "axis of a rim", "body", 3),
    Field("rim_side", "a direction across the axis of a rim", "body", 3),
    Field("direction", "direction in which friction is that along", "body", 3),
    Field("friction_along", "coefficient of friction along the direction", "1"),
    Field("friction_across", "coefficient of friction across the direction", "1"),
    Field("friction_backward", "coefficient of friction against the direction", "1"),
    Field("torsional_friction", "coefficient of friction against spin", "m"),
    Field("restitution", "coefficient of restitution", "1"),
    Field("effective_mass", "mass that scales its forces by velocities", "kg"),
    Field("law_scale", "factor on the effective mass with which the law chooses its branch", "1"),
    Field("segment", "of two bodies: from the middle to the end of the own segment", "m, body", 3),
    Field("box_centre", "of two bodies: centre of the partner's box", "m, partner", 3),
    Field("box_axes", "of two bodies: axes of the partner's box, row by row", "partner", 9),
    Field("box_half_sizes", "of two bodies: half sizes of the partner's box", "m", 3),
    Field("box_radius", "of two bodies: by which the partner's box is rounded", "m"),
    Field("reach", "of two bodies: distance of the middles beyond which they are apart", "m"),
)

# --- state ----------------------------------------------------------------------------------------
ENVIRONMENT_STATE = Table(
    Field("time", "time since the reset", "s"),
    Field("step_size", "size of the last step", "s"),
    Field("previous_step_size", "size of the step before", "s"),
    Field("history", "number of equal smooth steps that lie behind", "1"),
    Field("missed_starts", "1, 3, 7 ... after steps in a row that the first method missed", "1"),
    Field("interior_steps", "number of next steps that begin with the interior point", "1"),
    Field("unpolished", "whether projections missed what the interior point last found", "1"),
    Field("dissipated", "energy that dampers, friction, limits and contacts took", "J"),
    Field("work", "work of actuators and motors", "J"),
    Field("absolute_work", "sum of the absolute work of actuators and motors", "J"),
    Field("swept", "bound of the rotation since full turns were counted", "rad"),
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
    Field("last_momentum_rate", "sin(angle change) / h of the last step", "m/s or rad/s"),
    Field("last_rate", "rate over the last step", "m/s or rad/s"),
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
    Field("angular_velocity", "half-step angular velocity that led to this knot", "rad/s, body", 3),
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

# --- work -----------------------------------------------------------------------------------------
ENVIRONMENT_WORK = Table(
    Field("rims_turned", "whether a rim turned since attempts at a step began anew", "1"),
    Field("impact_speed", "scale of contact velocities where the interior point starts", "m/s"),
    Field("any_active", "whether any contact of two bodies is active", "1"),
    Field("largest_term", "largest term of a residual of the step, for round-off", "N"),
    Field("position_term", "force that the largest position over the step squared makes", "N"),
)
BODY_WORK = Table(
    Field("history_force", "force terms of the last step", "N, world", 3),
    Field("history_torque", "torque terms of the last step", "N m, body", 3),
    Field("force", "force part of the residual wrench", "N, world", 3),
    Field("torque", "torque of the residual wrench about the anchor at knot 2", "N m, world", 3),
    Field("block_a", "derivative of the force by the shift", "N/m", 9),
    Field("block_b", "derivative of the force by the rotation; B/U", "N/rad", 9),
    Field("block_c", "derivative of the torque by the shift; L\\C", "N", 9),
    Field("block_d", "derivative of the torque by the rotation; its factors L, U", "N m/rad", 9),
    Field("rotational_block", "derivative of the body's own torque by its rotation", "N m/rad", 9),
    Field("mass_term", "derivative of the body's own force by its shift", "N/m"),
    Field("position_correction", "shift of the anchor that closes the joints", "m", 3),
    Field("rotation_correction", "rotation that closes the joints", "rad", 3),
    Field("lever2", "from the parent's anchor to the own one at knot 2", "m, world", 3),
    Field("lever3", "from the parent's anchor to the own closed one at knot 3", "m, world", 3),
    Field("delta_position", "Newton increment or knot velocity of the anchor", "m or m/s", 3),
    Field("delta_rotation", "Newton increment or knot velocity of the rotation", "rad or rad/s", 3),
)
DOF_WORK = Table(
    Field("applied_torque", "torque that the caller applies in this step", "N or N m"),
    Field("relaxation", "kappa of its limits in the interior point; 0 in lanes without it", "W"),
    Field("limit_forces", "of the lower and the upper limit in the interior point", "N or N m", 2),
    Field(
        "limit_slacks", "rates at which the dof may approach them; 0 at first", "m/s or rad/s", 2
    ),
    Field("limit_affine_forces", "their forces at no increment, then after it", "N or N m", 2),
    Field("limit_slopes", "of these forces along the dof", "N/m or N m/rad", 2),
    Field("limit_next_slacks", "slacks after the increment", "m/s or rad/s", 2),
    Field("target", "target of the motor; not a number where it idles", "m, rad, m/s or rad/s"),
    Field("constant_load", "generalised force that stays while Newton iterates", "N or N m"),
    Field("load", "generalised force at the present guess of knot 3", "N or N m"),
    Field("compliance", "derivative of the load by the dof", "N/m or N m/rad"),
    Field("increment_axis", "of a ball joint with a spring: axis of the increment", "1, child", 3),
    Field("residual", "residual over the pivot", "m or rad"),
    Field("inverse_pivot", "1 / pivot", "m/N or rad/(N m)"),
    Field("column_force", "force part of column u of the eliminated dof", "N/m or N/rad", 3),
    Field("column_torque", "torque part of column u", "N or N m/rad", 3),
    Field("row_force", "force part of row w over the pivot", "1 or rad/m", 3),
    Field("row_torque", "torque part of row w over the pivot", "m/rad or 1", 3),
    Field("increment", "Newton increment along the dof; at a knot its rate", "m or rad"),
    Field("increment_seen", "increment by which bounded forces choose their branch", "m or rad"),
    Field("start", "coordinate at knot 2", "m or rad"),
    Field("seen_rate", "rate over the step, as the bounded forces see it", "m/s or rad/s"),
    Field("seen_slope", "derivative of that rate by the dof", "1/s"),
    Field("motor_command", "force that the motor is commanded", "N or N m"),
    Field("motor_stiffness", "derivative of the command by the dof, negated", "N/m or N m/rad"),
    Field("lower_clearance", "velocity that would reach the lower limit", "m/s or rad/s"),
    Field("upper_clearance", "velocity that would reach the upper limit", "m/s or rad/s"),
    Field("forces", "forces of motor, limit and dry friction as they are", "N or N m", 3),
    Field("affine_forces", "these forces at no increment, then after it", "N or N m", 3),
    Field("force_slopes", "negated derivatives of these forces by the dof", "N/m or N m/rad", 3),
    Field("anchor_forces", "forces that the proximal terms of the laws start from", "N or N m", 3),
    Field("converged_forces", "forces of motor, limit and friction of the solution", "N or N m", 3),
)
MOTION_WORK = Table(
    Field("start_value", "coordinate where the step of the call starts", "m or rad"),
    Field("start_rate", "rate there", "m/s or rad/s"),
    Field("end_value", "coordinate where it ends", "m or rad"),
    Field("end_rate", "rate there", "m/s or rad/s"),
    Field("goal", "coordinate that the step in hand has to reach", "m or rad"),
    Field("goal_rate", "rate there", "m/s or rad/s"),
)
SIDE_WORK = Table(
    Field("next_place", "parameters at the present guess of knot 3", "1, rad or m", 3),
    Field("kept_place", "these while places at the present knot are found", "1, rad or m", 3),
)
LOOP_ROW_WORK = Table(
    Field("residual", "residual of the row", "m, rad, N or N m"),
    Field("multiplier", "multiplier of the row", "N or N m"),
    Field("kept_multiplier", "multiplier of the attempt before", "N or N m"),
    Field("accepted_multiplier", "multiplier of the last iteration that counts", "N or N m"),
    Field("inverse_pivot", "1 / pivot of the row", "N/m, N m/rad or 1"),
    Field("unreduced_pivot", "pivot before other rows were eliminated", "m/N, rad/(N m) or 1"),
    Field("dual_shift", "shift of the pivot, a part of the unreduced one", "m/N, rad/(N m) or 1"),
)
FILL_IN_WORK = Table(
    Field("K_force", "derivative of the row by the body's shift at knot 3", "row/m", 3),
    Field("K_torque", "derivative of the row by the body's rotation at knot 3", "row/rad", 3),
    Field("B_force", "force of the row's unit multiplier on the body at knot 2", "1 or 1/m", 3),
    Field("B_torque", "torque of the row's unit multiplier on the body at knot 2", "m or 1", 3),
    Field(
        "K_dof", "derivative of the row by the joint's dofs", "row/m or row/rad", 6, indexed=True
    ),
    Field(
        "B_dof",
        "motion of the dofs by a unit multiplier",
        "m or rad, per N or N m",
        6,
        indexed=True,
    ),
)
SCHUR_WORK = Table(
    Field("value", "element of S, by which loop rows couple", "m/N, rad/(N m) or 1"),
)
CONTACT_WORK = Table(
    Field("active", "whether the contact is in the equations: it touches, or is near", "1"),
    Field("gap2", "gap at knot 2", "m"),
    Field("gap_target", "gap that the step has to leave", "m"),
    Field("anchor_force", "force that the proximal term starts from", "N", 4),
    Field("force", "force as it is", "N", 4),
    Field("affine_force", "force at no increment, then after it", "N", 4),
    Field("velocity", "velocity: normal, touching point (3, world), spin", "m/s, rad/s", 5),
    Field("velocity_seen", "velocity by which the law chooses its branch", "m/s, rad/s", 5),
    Field("velocity_next", "velocity after the last increment", "m/s, rad/s", 5),
    Field("slope_nn", "negated derivative of the normal force by the normal velocity", "N s/m"),
    Field("slope_1n", "negated derivative of tangential force 1 by the normal velocity", "N s/m"),
    Field("slope_2n", "negated derivative of tangential force 2 by the normal velocity", "N s/m"),
    Field("slope_11", "negated derivative of tangential force 1 by tangential velocity 1", "N s/m"),
    Field("slope_12", "negated derivative of tangential force 1 by tangential velocity 2", "N s/m"),
    Field("slope_22", "negated derivative of tangential force 2 by tangential velocity 2", "N s/m"),
    Field(
        "slope_sn",
        "negated derivative of the torque over its coefficient by the normal velocity",
        "N s/m",
    ),
    Field(
        "slope_ss",
        "negated derivative of the torque over its coefficient by the scaled spin",
        "N s/m",
    ),
    Field("tangent_1", "first unit tangent", "world", 3),
    Field("tangent_2", "second unit tangent", "world", 3),
    Field("scaled_tangent_1", "first tangent times its coefficient of friction", "world", 3),
    Field("scaled_tangent_2", "second tangent times its coefficient of friction", "world", 3),
    Field("arm2", "from the joint anchor to the touching point at knot 2", "m, world", 3),
    Field("arm_lowest", "from the joint anchor to the lowest point at knot 3", "m, world", 3),
    Field("arm_touching", "from the joint anchor at knot 3 to the point of knot 2", "m, world", 3),
    Field("touching_point", "point that touches at knot 2, from the centre of mass", "m, body", 3),
    Field("branch", "0 open, 1 sticking, 2 slipping, in the last damped iteration", "1"),
    Field("branch_turns", "number of turns between open and slipping", "1"),
    Field("slip_turns", "number of turns between sticking and slipping", "1"),
    Field("no_slip_direction_1", "first direction without slip of a skate or wheel", "world", 3),
    Field("no_slip_direction_2", "second direction without slip of a skate or wheel", "world", 3),
    Field("no_slip_rotation_1", "what its turning adds to derivatives by a rotation", "m", 3),
    Field("no_slip_rotation_2", "what its turning adds to derivatives by a rotation", "m", 3),
    Field("converged_force", "force of the solution", "N", 4),
    Field("converged_world_force", "force of the solution on the body", "N, world", 3),
    Field("converged_power", "power of the solution's force at the law's velocity", "W"),
    Field("power", "power that the force takes over the step", "W"),
    Field("power_error", "by which its power misses that of its law", "W"),
    Field("approach", "normal velocity in the last step", "m/s"),
    Field("normal2", "unit normal at knot 2", "world", 3),
    Field("normal3", "unit normal at knot 3", "world", 3),
    Field("partner_arm2", "arm2 of the partner", "m, world", 3),
    Field("partner_arm_lowest", "arm_lowest of the partner", "m, world", 3),
    Field("partner_arm_touching", "arm_touching of the partner", "m, world", 3),
    Field("partner_touching_point", "touching_point of the partner", "m, partner", 3),
    Field("rim_arm", "where a turned rim is held at knot 2, from its middle; else zero", "m", 3),
    Field("rim_ahead", "direction held ahead of the lowest point, over the turn to it", "1", 3),
    Field("rim_behind", "direction held behind the lowest point, over the turn to it", "1", 3),
    Field("segment_parameter", "place on the own segment at knot 2, from -1 to 1", "1"),
    Field("slope_21", "negated derivative of tangential force 2 by tangential velocity 1", "N s/m"),
    Field("law_velocity", "velocity that obeys the law, of a splitting", "m/s", 4),
    Field("dual", "duals of the interior point (s, psi)", "m/s", 2),
    Field("dual_next", "these duals after the increment", "m/s", 2),
    Field("dual_slopes", "slopes of psi", "1", 4),
    Field("law_error", "distance of the force from its law", "N"),
    Field("plane", "plane of the terrain: unit normal (3), height along it, whether any", "m", 5),
)

# --- row kinds ------------------------------------------------------------------------------------
TABLES = ("plan", "model", "state", "work")
# start of each table: the array it lies in, and the entry of the header that tells where (None: at
# its beginning)
BLOCK_STARTS = {
    "model_environment": ("model", None),
    "model_bodies": ("model", "model_bodies"),
    "model_dofs": ("model", "model_dofs"),
    "model_loop_rows": ("model", "model_loop_rows"),
    "model_contacts": ("model", "model_contacts"),
    "model_terms": ("model", "model_terms"),
    "model_tracks": ("model", "model_tracks"),
    "model_sides": ("model", "model_sides"),
    "model_points": ("model", "model_points"),
    "model_slides": ("model", "model_slides"),
    "state_environment": ("state", None),
    "state_dofs": ("state", "state_dofs"),
    "state_loop_rows": ("state", "state_loop_rows"),
    "state_contacts": ("state", "state_contacts"),
    "state_wrenches": ("state", "state_wrenches"),
    "state_motions": ("state", "state_motions"),
    "state_sides": ("state", "state_sides"),
    "state_knots": ("state", "state_knots"),
    "work_bodies": ("work", None),
    "work_dofs": ("work", "work_dofs"),
    "work_loop_rows": ("work", "work_loop_rows"),
    "work_fill_ins": ("work", "work_fill_ins"),
    "work_schur": ("work", "work_schur"),
    "work_contacts": ("work", "work_contacts"),
    "work_motions": ("work", "work_motions"),
    "work_sides": ("work", "work_sides"),
    "work_environment": ("work", "work_environment"),
    "kept_bodies": ("work", "factors_size"),
}


@dataclass(frozen=True)
class Part:
    """Table of a row kind, and where it starts.

    Attributes:
        table: its fields.
        start: a name of ``BLOCK_STARTS``, or of the plan an entry of the header.
    """

    table: Table
    start: str | None


class RowKind:
    """Tables whose fields a row object reads by name.

    Args:
        alone: whether there is only one row, ``d.name`` instead of ``d.name(i)``.
        buffered: whether rows lie in buffers, ``d.name(buffer, i)``.
        slots: entry of the header where the slots of its rows in one environment are listed, None
            if their numbers are their slots.
        aligned: whether its blocks are aligned with those of the bodies that they refer to.
        parts: table of each array.
    """

    def __init__(
        self,
        alone: bool = False,
        buffered: bool = False,
        slots: str | None = None,
        aligned: bool = False,
        **parts: Part,
    ) -> None:
        self.alone = alone
        self.buffered = buffered
        self.slots = slots
        self.aligned = aligned
        self.tables = parts
        self.fields = {
            field.name: (array, field, part.table.offset(field.name))
            for array, part in parts.items()
            for field in part.table.fields.values()
        }
        assert len(self.fields) == sum(len(part.table.names) for part in parts.values()), (
            "a field name occurs twice"
        )


def _contact_rows(slots: str | None = None, aligned: bool = False) -> RowKind:
    """Make the kind of a contact's rows, one by one or aligned with the bodies' blocks."""
    return RowKind(
        slots=slots,
        aligned=aligned,
        plan=Part(CONTACT_PLAN, "plan_contacts"),
        model=Part(CONTACT_MODEL, "model_contacts"),
        state=Part(CONTACT_STATE, "state_contacts"),
        work=Part(CONTACT_WORK, "work_contacts"),
    )


ROW_KINDS = {
    "environment": RowKind(
        alone=True,
        model=Part(ENVIRONMENT_MODEL, "model_environment"),
        state=Part(ENVIRONMENT_STATE, "state_environment"),
        work=Part(ENVIRONMENT_WORK, "work_environment"),
    ),
    "body": RowKind(
        plan=Part(BODY_PLAN, None),
        model=Part(BODY_MODEL, "model_bodies"),
        work=Part(BODY_WORK, "work_bodies"),
    ),
    "kept_body": RowKind(work=Part(BODY_WORK, "kept_bodies")),
    "pose": RowKind(buffered=True, state=Part(POSE_STATE, "state_knots")),
    "dof": RowKind(
        model=Part(DOF_MODEL, "model_dofs"),
        state=Part(DOF_STATE, "state_dofs"),
        work=Part(DOF_WORK, "work_dofs"),
    ),
    "loop_row": RowKind(
        plan=Part(LOOP_ROW_PLAN, "plan_loop_rows"),
        model=Part(LOOP_ROW_MODEL, "model_loop_rows"),
        state=Part(LOOP_ROW_STATE, "state_loop_rows"),
        work=Part(LOOP_ROW_WORK, "work_loop_rows"),
    ),
    "fill_in": RowKind(
        plan=Part(FILL_IN_PLAN, "plan_fill_ins"), work=Part(FILL_IN_WORK, "work_fill_ins")
    ),
    "schur": RowKind(work=Part(SCHUR_WORK, "work_schur")),
    "contact": _contact_rows(slots="plan_contact_slots"),
    "aligned_contact": _contact_rows(aligned=True),
    "wrench": RowKind(state=Part(WRENCH_STATE, "state_wrenches")),
    "motion": RowKind(
        plan=Part(MOTION_PLAN, "plan_motions"),
        state=Part(MOTION_STATE, "state_motions"),
        work=Part(MOTION_WORK, "work_motions"),
    ),
    "term": RowKind(plan=Part(TERM_PLAN, "plan_terms"), model=Part(TERM_MODEL, "model_terms")),
    "potential": RowKind(plan=Part(POTENTIAL_PLAN, "plan_potentials")),
    "track": RowKind(plan=Part(TRACK_PLAN, "plan_tracks"), model=Part(TRACK_MODEL, "model_tracks")),
    "side": RowKind(
        plan=Part(SIDE_PLAN, "plan_sides"),
        model=Part(SIDE_MODEL, "model_sides"),
        state=Part(SIDE_STATE, "state_sides"),
        work=Part(SIDE_WORK, "work_sides"),
    ),
    "slide": RowKind(plan=Part(SLIDE_PLAN, "plan_slides"), model=Part(SLIDE_MODEL, "model_slides")),
    "point": RowKind(model=Part(POINT_MODEL, "model_points")),
    "track_pose": RowKind(buffered=True, state=Part(TRACK_STATE, "state_knots")),
    "actuator": RowKind(plan=Part(ACTUATOR_PLAN, "plan_actuators")),
    "motor": RowKind(plan=Part(ACTUATOR_PLAN, "plan_motors")),
    "active_joint": RowKind(plan=Part(ACTIVE_JOINT_PLAN, "plan_active_joints")),
}

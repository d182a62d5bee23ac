"""Tables of the plan, integers that never change, and the meanings of these numbers."""

import numpy as np

from vigym.core.tables.table import Field, Table

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

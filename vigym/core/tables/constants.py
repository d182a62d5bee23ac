"""Tables of the constants of a model."""

from vigym.core.tables.table import Field, Table

ENVIRONMENT_MODEL = Table(
    Field("gravity", "acceleration of free fall", "m/s^2, world", 3),
    Field("force_scale", "force that residuals are measured by", "N"),
    Field("length_scale", "length that residuals are measured by", "m"),
    Field("load_ratio", "largest ratio of total mass times arm to inertia of a body", "1/m"),
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

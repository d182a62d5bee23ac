"""Kinds of rows: which tables a row object reads, and where each table starts."""

from dataclasses import dataclass

from vigym.core.tables.constants import (
    BODY_MODEL,
    CONTACT_MODEL,
    DOF_MODEL,
    ENVIRONMENT_MODEL,
    LOOP_ROW_MODEL,
    POINT_MODEL,
    SIDE_MODEL,
    SLIDE_MODEL,
    TERM_MODEL,
    TRACK_MODEL,
)
from vigym.core.tables.plan import (
    ACTIVE_JOINT_PLAN,
    ACTUATOR_PLAN,
    BODY_PLAN,
    CONTACT_PLAN,
    FILL_IN_PLAN,
    LOOP_ROW_PLAN,
    MOTION_PLAN,
    POTENTIAL_PLAN,
    SIDE_PLAN,
    SLIDE_PLAN,
    TERM_PLAN,
    TRACK_PLAN,
)
from vigym.core.tables.state import (
    CONTACT_STATE,
    DOF_STATE,
    ENVIRONMENT_STATE,
    LOOP_ROW_STATE,
    MOTION_STATE,
    POSE_STATE,
    SIDE_STATE,
    TRACK_STATE,
    WRENCH_STATE,
)
from vigym.core.tables.table import Table
from vigym.core.tables.work import (
    BODY_WORK,
    CONTACT_WORK,
    DOF_WORK,
    ENVIRONMENT_WORK,
    FILL_IN_WORK,
    LOOP_ROW_WORK,
    MOTION_WORK,
    SCHUR_WORK,
    SIDE_WORK,
)

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

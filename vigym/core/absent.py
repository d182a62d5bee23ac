"""Kernels without what a mechanism has not: a tree that touches nothing is not made to wait for loops and contacts.

Kernels ask the plan for what there is, ``if t.plan[CONTACTS] > 0``. Where tables say that they are of a plain tree
(``group(..., extent=None)``) such entries are known to be nought while the kernel is compiled: branches and loops that
need more are left out of its code before their phases are compiled. What stays is the same arithmetic.
"""

from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.postproc import PostProcessor

from .tables import (
    CARRIED_ROWS,
    CARRIES,
    CONTACTS,
    COUPLINGS,
    INTERIOR,
    LINKS,
    LOOP_ROWS,
    ROWS,
    TOUCHING_ROWS,
)  # fmt: skip

OF_PLAN = {LOOP_ROWS, CARRIED_ROWS, COUPLINGS, LINKS, CONTACTS, INTERIOR, TOUCHING_ROWS}  # header entries, t.plan[...]
OF_ROW = {ROWS, CARRIES}  # entries of a body's row, planned(t, i, ...)
END = "last_link"  # where loops over links end


def plain(plan) -> bool:
    """Whether a plan has none of what kernels of plain trees leave out."""
    return not plan[list(OF_PLAN)].any()


@register_pass(mutates_CFG=True, analysis_only=False)
class LeaveOut(FunctionPass):
    """Drop the branches of a function that its tables will never take."""

    _name = "vigym_leave_out"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        """Change the code of one function; returns whether it did."""
        if not any(_of_plain_tree(kind) for kind in state.args):
            return False
        code, changed = state.func_ir, False
        for block in code.blocks.values():
            branch = block.terminator
            taken = _value(code, branch.cond) if isinstance(branch, ir.Branch) else None
            if taken is not None:
                block.body[-1] = ir.Jump(branch.truebr if taken else branch.falsebr, branch.loc)
                changed = True
        if changed:
            for label in compute_cfg_from_blocks(code.blocks).dead_nodes():
                del code.blocks[label]
            code._definitions = build_definitions(code.blocks)
            PostProcessor(code).run()
        return changed


def _of_plain_tree(kind) -> bool:
    return isinstance(kind, types.NamedTuple) and dict(zip(kind.fields, kind, strict=True)).get("extent") == types.none


def _value(code, variable):
    """The number or truth value of a variable where it is known, else None."""
    made = guard(get_definition, code, variable)
    if isinstance(made, (ir.Const, ir.Global, ir.FreeVar)):
        return made.value if isinstance(made.value, int) else None
    how = _KNOWN.get(made.op) if isinstance(made, ir.Expr) else None
    return how(code, made) if how else None


def _entry(code, made):
    """``t.plan[LOOP_ROWS]``."""
    source = guard(get_definition, code, made.value)
    of_plan = isinstance(source, ir.Expr) and source.op == "getattr" and source.attr == "plan"
    return 0 if of_plan and _value(code, made.index) in OF_PLAN else None


def _call(code, made):
    """``planned(t, i, CARRIES)``, and what Python makes of a condition."""
    called = _called(code, made)
    if called == "bool":
        known = _value(code, made.args[0])
        return None if known is None else bool(known)
    return 0 if called == "planned" and _value(code, made.args[2]) in OF_ROW else None


def _called(code, made):
    """Name of the function that an expression calls, or None."""
    called = isinstance(made, ir.Expr) and made.op == "call"
    return getattr(guard(get_definition, code, made.func), "name", None) if called else None


def _operation(code, made):
    """Sums and comparisons."""
    left, right = _value(code, made.lhs), _value(code, made.rhs)
    return None if left is None or right is None else made.fn(left, right)


def _another_turn(code, made):
    """Whether ``for r in range(t.plan[LOOP_ROWS])`` goes on, or ``for g in range(..., last_link(t))``."""
    span = made
    for step in ("pair_second", "iternext", "getiter"):
        if getattr(span, "op", None) != step:
            return None
        span = guard(get_definition, code, span.value)
    if _called(code, span) != "range":
        return None
    end = span.args[min(len(span.args), 2) - 1]
    empty = _value(code, end) == 0 if len(span.args) == 1 else _called(code, guard(get_definition, code, end)) == END
    return False if empty else None


_KNOWN = {"getitem": _entry, "call": _call, "binop": _operation, "pair_second": _another_turn}

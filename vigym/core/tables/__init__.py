"""Data model: tables of fields, a line for each field with name, meaning, unit and width.

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

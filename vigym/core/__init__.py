"""The compiled core: arrays in, arrays out.

Notation, and the papers it comes from:

=========  =======================================================================================================
symbol     meaning
=========  =======================================================================================================
1, 2, 3    knots: last, now, next; v1, w1 led from 1 to 2, v2, w2 lead from 2 to 3
x, q       position of the centre of mass [m, world], unit quaternion (w, x, y, z), body to world
v, w       half-step velocity [m/s, world], angular velocity [rad/s, body]
h, h1      size of this and of the last step [s]; rho = h1 / h
m, J       mass [kg], inertia about the centre of mass [kg m^2, body axes]
c, e       rotation over a step as a quaternion: c = sqrt(1 - e.e), e = h w / 2
y          anchor of the joint that carries the body [m, world]; wrenches and increments refer to it
D, N, W    6x6 block of a body, free directions of its joint at knot 3 and at knot 2
g, lam     residual and multiplier of a loop row; K, B its derivative at knot 3 and its wrench at knot 2
=========  =======================================================================================================

Papers:

[MC]  Jan Brüdigam, Zachary Manchester: Linear-Time Variational Integrators in Maximal Coordinates.
[SIM] Jan Brüdigam, Stefan Sosnowski, Zachary Manchester, Sandra Hirche: Variational Integrators and Graph-Based Solvers
      for Multibody Dynamics in Maximal Coordinates. Multibody System Dynamics, doi:10.1007/s11044-023-09949-x.
[BAR] David Baraff: Linear-Time Dynamics using Lagrange Multipliers. SIGGRAPH 1996.
[LEE] Jeongseok Lee, C. Karen Liu, Frank C. Park, Siddhartha S. Srinivasa: A Linear-Time Variational Integrator for
      Multibody Systems.
[SI]  Weiguang Si, Brian Guenter: Linear-Time Dynamics for Multibody Systems with General Joint Models.

Modules, each importing only from those above it:

simd         the lane value type: arithmetic, load and store
tables       the whole data model: what is where in the four flat arrays
absent       kernels without what a mechanism has not
gathered     kernels are compiled whole, their phases with them
jit          the kernel decorators, and the cache folder keyed by the sources
lanes        lanes one by one, masks, reductions, rows of tables and arrays
algebra      vectors and matrices as tuples
quaternion   unit quaternions
groups       a lane group: its tables, its environments, copies of some of its lanes
knot         poses and what follows from them, in buffers that take turns
body         residual and derivative of each body's own equations, prediction, update
joint        free directions of a joint and what closes it
coordinates  joint coordinates read from poses and counted through full turns
links        what closes loops: its halves on the bodies, residuals and directions of its rows
contact      where a body may touch the ground, and how its touching points move
touch        contacts in a step: near or far, velocities at the guess of knot 3, and at a knot alone
cone         the law of a contact: complementarity and friction
press        contact forces in the equations, and after an increment
rates        rates of freedoms over a step
laws         forces that a freedom's motion sets within bounds: drives, limits, dry friction
drives       those laws in the equations, and after an increment
forces       torques, springs, dampers, armature on the freedoms
pivot        one freedom taken out of a block
books        what an accepted step leaves: losses, work, forces that were held
couple       couplings of two freedoms
rows         where loop rows are kept, and how they start
carry        loop rows carried up the tree and eliminated
multipliers  loop rows in the solves
ldu          close the joints, factorise and solve along the tree
evaluate     from a guess of knot 3 to the residual and the increment
newton       Newton's method for one step
advance      halved steps, composition, accepted knots
step         a call of the step; its entry kernels
velocity     knot velocities through the discrete Legendre transform
reset        from joint coordinates to the state; its entry kernels
closing      Newton's method that closes loops in joint coordinates
assemble     coordinates and rates that close the loops, some of them given; its entry kernels
readings     what is read of joints and contacts
readout      everything that is read at a knot; its entry kernels
snapshot     a state as plain rows, to save and restore
"""

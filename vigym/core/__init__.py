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
=========  =======================================================================================================

[MC] Bruedigam, Manchester: Linear-Time Variational Integrators in Maximal Coordinates.
[SIM] Bruedigam, Janeva, Sosnowski, Hirche: Linear-Time Contact and Friction Dynamics in Maximal Coordinates using Variational Integrators.
[BAR] Baraff: Linear-Time Dynamics using Lagrange Multipliers.
[LEE] Lee, Liu, Park, Srinivasa: A Linear-Time Variational Integrator for Multibody Systems.
[SI] Sherman, Seth, Delp / general joint dynamics: see the README for the full list.
"""

"""Laws between forces and rates that are not functions: unilateral contact, dry friction, clipped drives.

A law relates some forces f to quantities u, which are affine in all forces: u = b + W f. Each law
knows how to update its own forces while the others stay (a sweep), which case it is in, the
equations of that case, and how far it is from being met, by its definition. `solve` sweeps until
the cases stand, solves their equations, and checks the definitions.
Nothing here is a Newton method on the laws: cases are frozen while equations are solved.
"""

from __future__ import annotations

import numpy as np

SMALL = 1e-30
SLOW = 1e-4  # [m/s]


class Stop:
    """0 <= f, 0 <= u, f u = 0."""

    def __init__(self, row):
        self.row = row

    def relax(self, f, W, b):
        i = self.row
        rest = b[i] + W[i] @ f - W[i, i] * f[i]
        f[i] = max(0.0, -rest / max(W[i, i], SMALL))

    def case(self, f, u, W):
        return "closed" if f[self.row] > 0.0 else "open"

    def equations(self, case, f, u, W):
        """(residuals, derivatives with respect to f, with respect to u), in newtons."""
        i, per = self.row, 1.0 / max(W[self.row, self.row], SMALL)
        if case == "closed":
            return [per * u[i]], [], [(0, i, per)]
        return [f[i]], [(0, i, 1.0)], []

    def miss(self, f, u, W):
        i = self.row
        return abs(f[i] - max(0.0, f[i] - u[i] / max(W[i, i], SMALL)))


class Drag:
    """|f| <= bound, against u: f = -bound sign(u), anything between where u = 0. A bound of f[normal] may be scaled."""

    def __init__(self, row, bound, normal=None):
        self.row = row
        self.bound = bound
        self.normal = normal

    def most(self, f):
        return self.bound if self.normal is None else self.bound * max(f[self.normal], 0.0)

    def relax(self, f, W, b):
        i, most = self.row, self.most(f)
        f[i] = np.clip(f[i] - (b[i] + W[i] @ f) / max(W[i, i], SMALL), -most, most)

    def case(self, f, u, W):
        return (
            "sticks"
            if abs(f[self.row]) < self.most(f)
            else ("forward" if f[self.row] < 0.0 else "backward")
        )

    def equations(self, case, f, u, W):
        i, per = self.row, 1.0 / max(W[self.row, self.row], SMALL)
        if self.most(f) == 0.0:
            return [f[i]], [(0, i, 1.0)], []
        if case == "sticks":
            return [per * u[i]], [], [(0, i, per)]
        sign = 1.0 if case == "forward" else -1.0
        slope = [] if self.normal is None else [(0, self.normal, sign * self.bound)]
        return [f[i] + sign * self.most(f)], [(0, i, 1.0), *slope], []

    def miss(self, f, u, W):
        i, most = self.row, self.most(f)
        return abs(f[i] - np.clip(f[i] - u[i] / max(W[i, i], SMALL), -most, most))


class Slip:
    """Dry friction in a plane: most dissipation among forces with |(F1 / m1, F2 / m2)| <= bound of f[normal].

    m1 is `friction[0]` against slip along the first axis, `friction[2]` against slip the other way,
    m2 `friction[1]`.
    """

    def __init__(self, rows, normal, friction):
        self.rows = list(rows)
        self.normal = normal
        self.friction = np.asarray(friction, float)

    def scales(self, sign):
        """(m1, m2) where the force along the first axis has this sign."""
        along, across, backward = self.friction
        return np.array([along if sign < 0.0 else backward, across])

    def step(self, W):
        (a, c), (d, e) = (W[i, self.rows] for i in self.rows)
        return 1.0 / max(max(abs(a) + abs(c), abs(d) + abs(e)) * self.friction.max() ** 2, SMALL)

    def projected(self, F, u, radius, step):
        """Nearest allowed force to one that moved against the slip, in units of friction; with its case."""
        if radius <= 0.0:
            return np.zeros(2), "open"
        m = self.scales(F[0] - step * self.friction.max() ** 2 * u[0])
        z = np.divide(F, m, out=np.zeros(2), where=m > 0.0) - step * m * u
        m, length = self.scales(z[0]), np.sqrt(z @ z)
        return (m * z, "sticks") if length < radius else (m * z * (radius / length), "slips")

    def relax(self, f, W, b):
        u = b[self.rows] + W[self.rows] @ f
        f[self.rows], _ = self.projected(f[self.rows], u, f[self.normal], self.step(W))

    def case(self, f, u, W):
        return self.projected(f[self.rows], u[self.rows], f[self.normal], self.step(W))[1]

    def equations(self, case, f, u, W):
        i, j = self.rows
        n = self.normal
        if case == "open":
            return [f[i], f[j]], [(0, i, 1.0), (1, j, 1.0)], []
        if case == "sticks":
            per = 1.0 / max(np.linalg.norm(W[np.ix_(self.rows, self.rows)], 2), SMALL)
            return [per * u[i], per * u[j]], [], [(0, i, per), (1, j, per)]
        step = self.step(W)
        m = self.scales(f[i] - step * self.friction.max() ** 2 * u[i])
        per = np.divide(1.0, m, out=np.zeros(2), where=m > 0.0)
        z = per * f[self.rows] - step * m * u[self.rows]
        size = max(np.sqrt(z @ z), SMALL)
        way = z / size
        turn = f[n] * m[:, None] * (np.eye(2) - np.outer(way, way)) / size
        by_force = [(0, i, 1.0), (1, j, 1.0), (0, n, -m[0] * way[0]), (1, n, -m[1] * way[1])]
        by_force += [(r, self.rows[c], -turn[r, c] * per[c]) for r in range(2) for c in range(2)]
        by_slip = [(r, self.rows[c], turn[r, c] * step * m[c]) for r in range(2) for c in range(2)]
        return list(f[self.rows] - f[n] * m * way), by_force, by_slip

    def miss(self, f, u, W):
        F = f[self.rows]
        return np.abs(F - self.projected(F, u[self.rows], f[self.normal], self.step(W))[0]).max()


class Drive:
    """f = clip(u, -bound, bound): a drive whose wish u falls as f grows. Beyond |rate| = speed it brakes as it can."""

    def __init__(self, row, bound, rate=None, speed=np.inf):
        self.row = row
        self.bound = bound
        self.rate = rate
        self.speed = speed

    def relax(self, f, W, b):
        i, bound = self.row, self.bound
        f[i] = np.clip((b[i] + W[i] @ f - W[i, i] * f[i]) / (1.0 - W[i, i]), -bound, bound)
        if np.isfinite(self.speed):
            rate, per = b[self.rate] + W[self.rate] @ f, 1.0 / max(W[self.rate, i], SMALL)
            f[i] = np.clip(
                f[i] - per * (rate - np.clip(rate, -self.speed, self.speed)), -bound, bound
            )

    def wish(self, f, u, W):
        """What the law makes of the present rates and forces."""
        wish = np.clip(u[self.row], -self.bound, self.bound)
        if not np.isfinite(self.speed):
            return wish
        per = 1.0 / max(W[self.rate, self.row], SMALL)
        up, down = (f[self.row] + per * (sign * self.speed - u[self.rate]) for sign in (1.0, -1.0))
        return np.clip(np.clip(wish, down, up), -self.bound, self.bound)

    def case(self, f, u, W):
        force, wish = f[self.row], np.clip(u[self.row], -self.bound, self.bound)
        if (
            np.isfinite(self.speed)
            and abs(u[self.rate]) > 0.5 * self.speed
            and abs(force) < self.bound
        ):
            slack = 1e-9 * (1.0 + abs(wish))
            if (u[self.rate] > 0.0 and force < wish - slack) or (
                u[self.rate] < 0.0 and force > wish + slack
            ):
                return "brakes forward" if u[self.rate] > 0.0 else "brakes backward"
        if abs(force) >= self.bound:
            return "most" if force > 0.0 else "least"
        return "free"

    def equations(self, case, f, u, W):
        i = self.row
        if case in ("most", "least"):
            return [f[i] - (self.bound if case == "most" else -self.bound)], [(0, i, 1.0)], []
        if case == "free":
            return [f[i] - u[i]], [(0, i, 1.0)], [(0, i, -1.0)]
        speed, per = (
            (self.speed if case == "brakes forward" else -self.speed),
            1.0 / max(W[self.rate, i], SMALL),
        )
        return [per * (u[self.rate] - speed)], [], [(0, self.rate, per)]

    def miss(self, f, u, W):
        return abs(f[self.row] - self.wish(f, u, W)) / (1.0 - W[self.row, self.row])


def miss(laws, f, u, W):
    """How far the laws are from being met [N], by their definitions."""
    return max((law.miss(f, u, W) for law in laws), default=0.0)


def equations(laws, cases, f, W, b):
    """Residuals of the frozen cases and their derivatives by all forces."""
    u = b + W @ f
    residuals = []
    slopes = []
    for law, case in zip(laws, cases, strict=True):
        r, by_force, by_rate = law.equations(case, f, u, W)
        slope = np.zeros((len(r), len(f)))
        for row, column, value in by_force:
            slope[row, column] += value
        for row, column, value in by_rate:
            slope[row] += value * W[column]
        residuals += r
        slopes.append(slope)
    return np.array(residuals), np.vstack(slopes)


def settled(laws, cases, f, W, b):
    """Forces that solve the equations of the cases, next to f; least changes where they are not unique."""
    f = f.copy()
    for _ in range(12):
        r, slope = equations(laws, cases, f, W, b)
        change = np.linalg.lstsq(slope, -r, rcond=1e-11)[0]
        f = f + change
        if not np.all(np.isfinite(f)) or np.abs(change).max() <= 1e-14 * (1.0 + np.abs(f).max()):
            break
    return f


def followed(laws, W, b, f, tolerance, slow):
    """(miss, forces) nearest to the laws on the way from case to case, each that of the last one's solution."""
    best, last = (np.inf, f), None
    for _ in range(8):
        u = b + W @ f
        best = min(best, (miss(laws, f, u, W), f), key=lambda pair: pair[0])
        cases = [law.case(f, u, W) for law in laws]
        for i, law in enumerate(
            laws
        ):  # where forces of redundant contacts still settle, slips are none
            if cases[i] == "slips" and np.abs(u[law.rows]).max() < slow:
                cases[i] = "sticks"
        if best[0] <= tolerance * (1.0 + np.abs(best[1]).max()) or cases == last:
            break
        f, last = settled(laws, cases, f, W, b), cases
        if not np.all(np.isfinite(f)):
            break
    return best


def solve(laws, W, b, f, tolerance=1e-12, sweeps=20000):
    """Forces that meet the laws, from a guess f; the best found where the laws contradict each other a little.

    Linearised rows of more constraints than freedoms do, until the linearisation is the solution's.
    """
    if not laws:
        return f
    best = np.inf, f
    f = f.copy()
    batch, done = 2, 0
    earlier = [np.inf] * 3
    while done < sweeps and (done < 200 or best[0] < 0.7 * earlier[-3]):
        earlier.append(best[0])
        for _ in range(batch):
            for law in laws:
                law.relax(f, W, b)
        done, batch = done + batch, min(2 * batch, 500)
        for slow in (0.0, SLOW):
            best = min(best, followed(laws, W, b, f, tolerance, slow), key=lambda pair: pair[0])
        if best[0] <= tolerance * (1.0 + np.abs(best[1]).max()):
            break
    return best[1]

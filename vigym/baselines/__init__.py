"""Methods of other papers on the same mechanisms, to compare with.

Keys: SI "Linear-Time Dynamics for Multibody Systems with General Joint Models" (Si, Guenter), BAR
"Linear-Time Dynamics using Lagrange Multipliers" (Baraff), LEE "A Linear-Time Variational
Integrator for Multibody Systems" (Lee et al.), MC and SIM the papers of vigym's own step.
"""

from vigym.baselines.explicit import ExplicitEuler, Heun, RungeKutta4, SemiImplicitEuler
from vigym.baselines.general.surfaces import surface_tree
from vigym.baselines.ggl import GearGuptaLeimkuhler
from vigym.baselines.methods import METHODS, Method, StepError
from vigym.baselines.multipliers import Baumgarte, Multipliers
from vigym.baselines.product import Product
from vigym.baselines.tree import GeneralJoint, Tree, general_tree, mechanism_tree
from vigym.baselines.variational import Broyden, Newton, Riqn, ThirdOrder

__all__ = [
    "METHODS",
    "Baumgarte",
    "Broyden",
    "ExplicitEuler",
    "GearGuptaLeimkuhler",
    "GeneralJoint",
    "Heun",
    "Method",
    "Multipliers",
    "Newton",
    "Product",
    "Riqn",
    "RungeKutta4",
    "SemiImplicitEuler",
    "StepError",
    "ThirdOrder",
    "Tree",
    "general_tree",
    "mechanism_tree",
    "surface_tree",
]

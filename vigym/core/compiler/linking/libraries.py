"""Code of phases and kernels.

A phase is typed when it is first called. It waits to be lowered, that is written as LLVM's code,
until a kernel needs it. The kernel links all its phases, has them optimised, and makes machine
code.
"""

import functools
import math
from collections.abc import Iterable
from typing import Any

from llvmlite import binding, ir
from llvmlite.binding import create_new_function_pass_manager
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.targetconfig import ConfigStack

from vigym.core.compiler.processor import PROCESSOR

# linkage of functions of which one copy is enough: dropped where nothing calls them, or kept
_DROPPED_AND_KEPT = "linkonce_odr", "weak_odr"


class _Generator(JITCPUCodegen):
    """Numba's making of machine code, for the processor of the kernels, not for the one at hand."""

    def _get_host_cpu_name(self) -> str:
        return PROCESSOR.name

    def _get_host_cpu_features(self) -> str:
        return PROCESSOR.features


@functools.cache
def code_generator() -> JITCPUCodegen:
    """Return what makes the machine code of kernels."""
    return _Generator("vigym")


class PhaseLibrary(JITCodeLibrary):
    """Code of a phase, without the phases that it calls and without machine code.

    Attributes:
        callees: libraries of the phases that it calls, once it is lowered.
    """

    callees: tuple["PhaseLibrary", ...] = ()
    _lowering: Any = None  # numba's lowering of the phase, until it is done

    def lower_later(self, lowering: Any) -> None:
        """Keep numba's lowering of the phase until it is needed."""
        self._lowering = lowering

    def lower(self) -> None:
        """Lower the phase, unless that is done."""
        lowering, self._lowering = self._lowering, None
        if lowering is not None:
            with ConfigStack().enter(lowering.flags), lowering.context.push_code_library(self):
                lowering.lower()
            self.callees = _include_others(self)

    def _ensure_finalized(self) -> None:
        """Leave everything to the kernel that links this library."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Clear away variables in memory; the kernel optimises the rest."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = create_new_function_pass_manager(), self._codegen._pass_builder()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class KernelLibrary(JITCodeLibrary):
    """Code of a kernel, with one copy of every phase that it needs.

    Attributes:
        is_called: whether other kernels may call it, as those of baselines do.
    """

    is_called = False

    def finalize(self) -> None:
        """Lower and link all phases, callers first, then make machine code."""
        needed = _gather(_include_others(self))
        for phase in needed:
            self._reload_init.update(phase._reload_init)
        modules = [phase._get_module_for_linking() for phase in reversed(needed)]
        for bundle in _bundles(modules):
            self._final_module.link_in(bundle)
        _set_linkage(self._final_module, *reversed(_DROPPED_AND_KEPT))
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return the machine code, and LLVM's code of the names that it defines.

        Numba would keep LLVM's code of everything, to link it again where a kernel is called.
        """
        if self.is_called:
            found: tuple[str, str, tuple[bytes, bytes]] = super().serialize_using_object_code()
            return found
        self._ensure_finalized()
        names = ir.Module()
        for function in self.get_defined_functions():
            if function.linkage == binding.Linkage.external:
                kind = ir.FunctionType(ir.VoidType(), ())
                stub = ir.Function(names, kind, function.name)
                ir.IRBuilder(stub.append_basic_block()).ret_void()
        code = binding.parse_assembly(str(names)).as_bitcode()
        return self.name, "object", (self._get_compiled_object(), code)


def _include_others(library: Any) -> tuple[PhaseLibrary, ...]:
    """Merge numba's own functions into the code of a library; return the phases that it calls."""
    found = dict.fromkeys(library._linking_libraries)
    for other in found:
        if not isinstance(other, PhaseLibrary):
            library._reload_init.update(other._reload_init)
            library._final_module.link_in(other._get_module_for_linking(), preserve=True)
    library._linking_libraries = []
    return tuple(phase for phase in found if isinstance(phase, PhaseLibrary))


def _gather(phases: Iterable[PhaseLibrary]) -> list[PhaseLibrary]:
    """Find phases and all that they call, callees first; lower those that wait for it."""
    found: dict[PhaseLibrary, bool] = {}

    def add(phase: PhaseLibrary) -> None:
        if phase not in found:
            phase.lower()
            for callee in phase.callees:
                add(callee)
            found[phase] = True

    for phase in phases:
        add(phase)
    return list(found)


def _bundles(modules: list[Any]) -> list[Any]:
    """Link copies of modules by the dozen, in their order.

    Every link looks through all that is linked so far, and leaves out what may be dropped and is
    not called there: in bundles nothing may be dropped.
    """
    size = math.isqrt(len(modules)) + 1
    bundles = []
    for start in range(0, len(modules), size):
        bundle, *others = [module.clone() for module in modules[start : start + size]]
        for module in [bundle, *others]:
            _set_linkage(module, *_DROPPED_AND_KEPT)
        for module in others:
            bundle.link_in(module)
        bundles.append(bundle)
    return bundles


def _set_linkage(module: Any, found: str, linkage: str) -> None:
    """Set another linkage for the functions of one."""
    for function in module.functions:
        if function.linkage.name == found:
            function.linkage = linkage

"""Optional accelerator of compilation: the phases of a kernel are optimised together, once.

By itself numba finishes every function alone, with all that it calls. A function that lies n calls
deep is then optimised n times, although only the kernel ever runs it. With this accelerator the
code of a phase waits, and the entry kernel links all of it. The arithmetic is the same.

It uses private parts of numba, so it serves only the versions that it was tested with. With any
other version, or with ``VIGYM_LINKING=0`` in the environment, kernels are compiled by plain
``njit``, which takes several times as long.
"""

import math
import os
from typing import Any

import numba
from numba import types

TESTED = ("0.68",)  # versions of numba (major.minor) whose private parts are as expected here
# linkage of functions of which one copy is enough: dropped where nothing calls them, or kept
_DROPPED_AND_KEPT = "linkonce_odr", "weak_odr"


def _is_enabled() -> bool:
    """Return whether phases are compiled to machine code with their kernel only."""
    version = ".".join(numba.__version__.split(".")[:2])
    return os.environ.get("VIGYM_LINKING", "1") != "0" and version in TESTED


def _gather(libraries: Any, needed: dict[Any, bool], waiting: Any) -> None:
    """Add libraries and those that they link to the keys of ``needed``, callees first."""
    for library in libraries:
        if library not in needed:
            if isinstance(library, waiting):
                _gather(library._linking_libraries, needed, waiting)
            needed[library] = True


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


def _code_library_classes() -> tuple[Any, Any]:
    """Make the classes of compiled code (of phases, of entry kernels)."""
    from llvmlite.binding import create_new_function_pass_manager
    from numba.core.codegen import JITCodeLibrary

    class WaitingLibrary(JITCodeLibrary):
        """Code of a phase, without the phases that it calls and without machine code."""

        def _ensure_finalized(self):
            """Leave everything to the kernel that links this library."""

        def _optimize_functions(self, ll_module):
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
        """Code of a kernel, with one copy of every phase that it needs."""

        def finalize(self):
            """Link all phases, callers first, then make machine code."""
            needed: dict[Any, bool] = {}
            _gather(self._linking_libraries, needed, WaitingLibrary)
            for library in needed:
                self._reload_init.update(library._reload_init)
            modules = [library._get_module_for_linking() for library in reversed(needed)]
            for bundle in _bundles(modules):
                self._final_module.link_in(bundle)
            _set_linkage(self._final_module, *reversed(_DROPPED_AND_KEPT))
            self._linking_libraries = []
            super().finalize()

    return WaitingLibrary, KernelLibrary


def _lowering_passes() -> tuple[type, type]:
    """Make the lowering passes (of phases, of entry kernels)."""
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    waiting, kernel = _code_library_classes()

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LowerPhase(NativeLowering):
        """Lowering pass of a phase: no machine code yet."""

        _name = "vigym_lower_phase"

        def run_pass(self, state):
            """Lower the function into a library that waits."""
            name = state.func_id.func_qualname
            state.library = waiting(state.targetctx.codegen(), name)
            state.flags.no_compile = True
            super().run_pass(state)
            key = [f"{name} is a part of kernels"].index  # any built-in function serves
            state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
            state["cr"] = state["cr"]._replace(cfunc=key)
            return True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LowerKernel(NativeLowering):
        """Lowering pass of an entry kernel: machine code of all that it needs."""

        _name = "vigym_lower_kernel"

        def run_pass(self, state):
            """Lower the function into a library that links its phases."""
            state.library = kernel(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return super().run_pass(state)

    return LowerPhase, LowerKernel


def _needless_passes() -> set[type]:
    """Find the passes for what kernels do not have: closures, Python objects, array expressions."""
    from numba.core import typed_passes, untyped_passes

    return {
        untyped_passes.WithLifting,
        untyped_passes.InlineClosureLikes,
        untyped_passes.RewriteDynamicRaises,
        untyped_passes.MakeFunctionToJitFunction,
        untyped_passes.InlineInlinables,
        untyped_passes.FindLiterallyCalls,
        untyped_passes.LiteralUnroll,
        untyped_passes.LiteralPropagationSubPipelinePass,
        typed_passes.InlineOverloads,
        typed_passes.NopythonRewrites,
        typed_passes.DumpParforDiagnostics,
    }


def _pipeline_with(lowering: Any) -> type:
    """Make numba's compiler pipeline with another lowering pass, and without needless ones."""
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.typed_passes import NativeLowering

    needless = _needless_passes()

    class Pipeline(CompilerBase):
        """Compiler pipeline of vigym's kernels."""

        def define_pipelines(self):
            """Replace the lowering pass, and leave needless ones out."""
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes = [made for made, _ in manager.passes]
            manager.passes[passes.index(NativeLowering)] = lowering, lowering._name
            manager.passes = [item for item in manager.passes if item[0] not in needless]
            manager.finalize()
            return [manager]

    return Pipeline


def unliteral_arguments(dispatcher: Any) -> Any:
    """Make a compiled function treat literal arguments as values of their types.

    Else it is compiled again for each value.

    The public ``overload`` does so too, but compiles a function again for each kind of caller.
    """
    template_of = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template_of(tuple(map(_unliteral, args)), kws)
    return dispatcher


def _unliteral(kind):
    """Return the type of a constant without its value."""
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return types.BaseTuple.from_types(tuple(map(_unliteral, kind)))
    return types.unliteral(kind)


ENABLED = _is_enabled()
PHASE_OPTIONS: dict[str, Any] = {}
KERNEL_OPTIONS: dict[str, Any] = {}
if ENABLED:
    _phase, _kernel = _lowering_passes()
    PHASE_OPTIONS["pipeline_class"] = _pipeline_with(_phase)
    KERNEL_OPTIONS["pipeline_class"] = _pipeline_with(_kernel)

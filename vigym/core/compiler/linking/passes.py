"""Passes of numba that let a kernel link its phases."""

from typing import Any

from numba import types

from vigym.core.compiler.linking.versions import ENABLED

_CALLED_BY_NONE = "vigym.core.kernels."  # modules whose kernels no other kernel calls


def _pass_of_phases() -> type:
    """Make the lowering pass of phases."""
    from numba.core.compiler import _LowerResult
    from numba.core.compiler_machinery import register_pass
    from numba.core.funcdesc import PythonFunctionDescriptor
    from numba.core.typed_passes import NativeLowering

    from vigym.core.compiler.linking.libraries import PhaseLibrary, code_generator

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LowerPhase(NativeLowering):
        """Lowering pass of a phase: it describes the function, which is lowered later."""

        _name = "vigym_lower_phase"

        def run_pass(self, state):
            """Describe the function to its callers, and put off lowering it."""
            name, context = state.func_id.func_qualname, state.targetctx
            code, flags = state.func_ir, state.flags
            library = PhaseLibrary(code_generator(), name)
            library._reload_init.update(state.reload_init)
            descriptor = PythonFunctionDescriptor.from_specialized_function(
                code,
                state.typemap,
                state.return_type,
                state.calltypes,
                mangler=context.mangler,
                inline=flags.forceinline,
                noalias=flags.noalias,
                abi_tags=[flags.get_mangle_string()],
            )
            library.lower_later(
                self.lowering_class(context, library, descriptor, code, state.metadata)
            )
            key = [f"{name} is a part of kernels"].index  # any built-in function serves
            context.insert_user_function(key, descriptor, [library])
            state.library = library
            state["cr"] = _LowerResult(descriptor, None, cfunc=key, env=None)
            return True

    return LowerPhase


def _pass_of_kernels() -> type:
    """Make the lowering pass of entry kernels."""
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    from vigym.core.compiler.linking.libraries import KernelLibrary, code_generator

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LowerKernel(NativeLowering):
        """Lowering pass of an entry kernel: machine code of all that it needs."""

        _name = "vigym_lower_kernel"

        def run_pass(self, state):
            """Lower the function into a library that links its phases."""
            state.library = KernelLibrary(code_generator(), state.func_id.func_qualname)
            state.library.is_called = not state.func_id.modname.startswith(_CALLED_BY_NONE)
            state.library.enable_object_caching()
            return super().run_pass(state)

    return LowerKernel


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


PHASE_OPTIONS: dict[str, Any] = {}
KERNEL_OPTIONS: dict[str, Any] = {}
if ENABLED:
    PHASE_OPTIONS["pipeline_class"] = _pipeline_with(_pass_of_phases())
    KERNEL_OPTIONS["pipeline_class"] = _pipeline_with(_pass_of_kernels())

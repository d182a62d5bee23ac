"""Compile a kernel once: its phases are optimised and made machine code with it, not each on its own before.

Left to itself numba finishes every function alone, with all that it calls: what lies n calls deep is optimised and
made machine code n times, though no one but the kernel ever runs it. Here the code of a phase only waits, and the
entry kernel gathers all of it. No arithmetic changes by this.
"""

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import IRProcessing

from .absent import LeaveOut


class _Waiting(JITCodeLibrary):
    """Code of a phase, without what it calls and without machine code."""

    def _ensure_finalized(self):
        """Nothing is to be done before somebody links it."""


class _Whole(JITCodeLibrary):
    """Code of a kernel, with every phase below it once."""

    def finalize(self):
        needed = {}
        _gather(self._linking_libraries, needed)
        self._linking_libraries = list(reversed(needed))  # callers first: only what is asked for by then is linked
        super().finalize()


def _gather(libraries, needed):
    """Add libraries and what they link to the keys ``needed``, callees first."""
    for library in libraries:
        if library not in needed:
            if isinstance(library, _Waiting):
                _gather(library._linking_libraries, needed)
            needed[library] = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Wait(NativeLowering):
    """Lower a phase, and stop there."""

    _name = "vigym_wait"

    def run_pass(self, state):
        name = state.func_id.func_qualname
        state.library, state.flags.no_compile = _Waiting(state.targetctx.codegen(), name), True
        super().run_pass(state)
        key = [f"{name} is a part of kernels, and called by them only"].index  # numba asks for any built-in function
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Finish(NativeLowering):
    """Lower a kernel, and make machine code of all that it needs."""

    _name = "vigym_finish"

    def run_pass(self, state):
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


def _with_lowering(lowering):
    """Numba's pipeline with another way to lower, and without what a mechanism has not."""

    class Pipeline(CompilerBase):
        def define_pipelines(self):
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes = [made for made, _ in manager.passes]
            manager.passes[passes.index(NativeLowering)] = lowering, lowering._name
            manager.add_pass_after(LeaveOut, IRProcessing)
            manager.finalize()
            return [manager]

    return Pipeline


Waiting, Whole = _with_lowering(_Wait), _with_lowering(_Finish)

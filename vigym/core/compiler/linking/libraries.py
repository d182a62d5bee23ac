"""Code of phases and kernels, which several processes may make together.

A phase is typed when it is first called. It waits to be lowered, that is written as LLVM's code,
until a kernel needs it. The kernel links all its phases, has them optimised, and makes machine
code. Forked processes can take part: while phases are typed here, some lower those that are typed
already, and others make the code of kernels.
"""

import functools
import itertools
import math
import os
import pickle
import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from llvmlite import binding, ir
from llvmlite.binding import create_new_function_pass_manager
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.targetconfig import ConfigStack

from vigym.core.compiler.processor import PROCESSOR

# linkage of functions of which one copy is enough: dropped where nothing calls them, or kept
_DROPPED_AND_KEPT = "linkonce_odr", "weak_odr"
_phases: weakref.WeakValueDictionary[int, "PhaseLibrary"] = weakref.WeakValueDictionary()
_numbers = itertools.count()
Packed = tuple[int, bytes, list[int], set[Any]]  # see ``PhaseLibrary.packed``
# flags of a look at a process that leaves it as it is
_LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT if hasattr(os, "waitid") else 0
PHASES_AHEAD = 50  # that a process lowers, in about a second


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


class Fork:
    """A forked process that does a work.

    Where no process can be started, or it fails, the work is done when its result is asked for.

    Args:
        work: what it returns is pickled.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._file = os.memfd_create("result")
        try:
            self._process = os.fork()
        except OSError:  # no memory or no process is left
            self._process = -1
        if self._process == 0:
            self._do_and_exit()

    def _do_and_exit(self) -> None:
        """Store the result of the work; clear nothing away, which all is the parent's, too."""
        try:
            with os.fdopen(self._file, "wb") as file:
                pickle.dump(self._work(), file)
            os._exit(0)
        finally:
            os._exit(1)

    def is_done(self) -> bool:
        """Return whether asking for the result would not wait for the process."""
        return self._process < 0 or os.waitid(os.P_PID, self._process, _LOOK) is not None

    def result(self) -> Any:
        """Wait for the process, and return what the work returned; to be called once."""
        status = os.waitpid(self._process, 0)[1] if self._process > 0 else 1
        with os.fdopen(self._file, "rb") as file:
            if status:
                return self._work()
            file.seek(0)
            return pickle.load(file)


class PhaseLibrary(JITCodeLibrary):
    """Code of a phase, without the phases that it calls and without machine code.

    Attributes:
        number: of the phase in this process, and in those that are forked from it.
        callees: libraries of the phases that it calls, once it is lowered.
    """

    number: int
    callees: tuple["PhaseLibrary", ...] = ()
    _lowering: Any = None  # numba's lowering of the phase, until it is done
    _code = b""  # of LLVM, where another process lowered the phase

    def lower_later(self, lowering: Any) -> None:
        """Keep numba's lowering of the phase until it is needed."""
        self._lowering = lowering
        self.number = next(_numbers)
        _phases[self.number] = self
        ahead.add(self)

    def lower(self) -> None:
        """Lower the phase, unless that is done."""
        lowering, self._lowering = self._lowering, None
        if lowering is not None:
            with ConfigStack().enter(lowering.flags), lowering.context.push_code_library(self):
                lowering.lower()
            self.callees = _include_others(self)

    def packed(self) -> Packed:
        """Return number, code, numbers of the callees, and what numba runs when it loads it."""
        callees = [callee.number for callee in self.callees]
        return self.number, self._final_module.as_bitcode(), callees, self._reload_init

    def unpack(self, code: bytes, callees: list[int], reload_init: set[Any]) -> None:
        """Take what ``packed`` returned in a process that lowered the phase, but for its number."""
        self._code = code
        self.callees = tuple(_phases[number] for number in callees)
        self._reload_init.update(reload_init)
        self._lowering = None

    def _get_module_for_linking(self) -> Any:
        """Return the code of the phase, to link copies of it."""
        if self._code:
            self._final_module = binding.parse_bitcode(self._code)
            self._code = b""
        return super()._get_module_for_linking()

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


class Ahead:
    """Phases that forked processes lower while this one types others.

    Attributes:
        most: largest number of such processes at a time; 0: none.
    """

    def __init__(self) -> None:
        self.most = 0
        self._new: list[PhaseLibrary] = []
        self._forks: list[Fork] = []

    def add(self, phase: PhaseLibrary) -> None:
        """Let a phase be lowered, as soon as there are many and a process may start."""
        if self.most == 0:
            return
        self._new.append(phase)
        if len(self._new) < PHASES_AHEAD:
            return
        self.take([fork for fork in self._forks if fork.is_done()])
        if len(self._forks) < self.most:
            self._forks.append(Fork(partial(_lowered, self._new)))
            self._new = []

    def take(self, forks: list[Fork] | None = None) -> None:
        """Take the phases that some processes lowered, or all; wait for those that are not done."""
        for fork in list(self._forks) if forks is None else forks:
            self._forks.remove(fork)
            _unpack(fork.result())

    def forget(self) -> None:
        """Leave all that follows to the parent, in a process that was forked."""
        self.most = 0
        self._new = []


ahead = Ahead()


def _lowered(phases: list[PhaseLibrary]) -> list[Packed]:
    """Lower phases; return their code for the process that this one was forked from."""
    for phase in phases:
        phase.lower()
    return [phase.packed() for phase in phases]


def _unpack(packed: Iterable[Packed]) -> None:
    """Take the code of phases from a process that lowered them."""
    for number, code, callees, reload_init in packed:
        _phases[number].unpack(code, callees, reload_init)


class Typed(BaseException):
    """A kernel is typed here, and another process goes on; raised to leave the compiler."""

    def __init__(self, process: int) -> None:
        super().__init__()
        self.process = process


class KernelLibrary(JITCodeLibrary):
    """Code of a kernel, with one copy of every phase that it needs.

    Attributes:
        forks: whether a forked process makes the code, and this one goes on with another kernel.
    """

    forks = False

    def finalize(self) -> None:
        """Lower and link all phases, callers first, then make machine code.

        Raises:
            Typed: a forked process does that.
        """
        ahead.take()
        if self.forks:
            self._leave_to_fork()
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

        Numba would keep LLVM's code of everything, to link it again; nothing calls a kernel.
        """
        self._ensure_finalized()
        names = ir.Module()
        for function in self.get_defined_functions():
            if function.linkage == binding.Linkage.external:
                kind = ir.FunctionType(ir.VoidType(), ())
                stub = ir.Function(names, kind, function.name)
                ir.IRBuilder(stub.append_basic_block()).ret_void()
        code = binding.parse_assembly(str(names)).as_bitcode()
        return self.name, "object", (self._get_compiled_object(), code)

    @staticmethod
    def _leave_to_fork() -> None:
        """Let a forked process go on, and leave the compiler in this one."""
        try:
            process = os.fork()
        except OSError:  # no memory or no process is left: this one goes on
            return
        if process:
            raise Typed(process)
        ahead.forget()


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

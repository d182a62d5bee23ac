"""Processors that kernels are compiled for: levels of x86-64, the one at hand, one that is named."""

from __future__ import annotations

import pytest

from vigym.core.compiler import processor

V3 = ["avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"]
V4 = [*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]


class Found(dict):
    """Features of a processor, as LLVM finds them."""

    def flatten(self) -> str:
        return ",".join(f"{'+' if has else '-'}{name}" for name, has in self.items())


@pytest.fixture
def at_hand(monkeypatch):
    """Put a processor with some features in place of the one at hand."""

    def put(features, name=None, given=None, enabled=True):
        found = Found(dict.fromkeys(V4, False) | dict.fromkeys(features, True))
        monkeypatch.setattr(processor, "get_host_cpu_features", lambda: found)
        monkeypatch.setattr(processor, "get_host_cpu_name", lambda: "at-hand")
        monkeypatch.setattr(processor.config, "CPU_NAME", name, raising=False)
        monkeypatch.setattr(processor.config, "CPU_FEATURES", given, raising=False)
        monkeypatch.setattr(processor, "ENABLED", enabled)
        return processor._processor()

    return put


@pytest.mark.parametrize(
    ("features", "level", "wide", "fused"),
    [
        (V4, "x86-64-v4", True, True),
        (V4[:-1], "x86-64-v3", False, True),
        (V3, "x86-64-v3", False, True),
        (V3[:-1], "at-hand", False, True),
        (["sse3"], "at-hand", False, False),
    ],
)
def test_the_highest_level_is_taken(at_hand, features, level, wide, fused):
    found = at_hand(features)
    assert found.name == level
    assert (found.has("avx512f"), found.has("fma")) == (wide, fused)
    assert (found.features == "") == (level != "at-hand")  # a level is the same everywhere


def test_without_the_accelerator_code_is_for_the_processor_at_hand(at_hand):
    found = at_hand(V4, enabled=False)
    assert found.name == "at-hand"
    assert found.has("avx512f")


@pytest.mark.parametrize(
    ("name", "wide", "fused"),
    [
        ("x86-64-v4", True, True),
        ("x86-64-v3", False, True),
        ("x86-64-v2", False, False),
        ("generic", False, False),
    ],
)
def test_a_named_processor_has_what_its_name_says(at_hand, name, wide, fused):
    found = at_hand(V4, name)
    assert found == (name, "")
    assert (found.has("avx512f"), found.has("fma")) == (wide, fused)


def test_features_that_are_given_are_kept(at_hand):
    assert at_hand(V4, "x86-64-v2", "+fma,-avx").has("fma")
    found = at_hand(V4, None, "+fma")
    assert found == ("at-hand", "+fma")
    assert not found.has("avx512f")
    assert at_hand(V3, "host").name == "x86-64-v3"


def test_the_level_leaves_numba_itself_alone():
    """Functions of the user are compiled for the processor at hand."""
    from numba.core.registry import cpu_target

    linking = pytest.importorskip("vigym.core.compiler.linking.libraries")
    ours, theirs = linking.code_generator(), cpu_target.target_context.codegen()
    assert ours.magic_tuple()[1:] == processor.PROCESSOR
    assert theirs is not ours

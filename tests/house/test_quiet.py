"""What C code prints is caught, and nothing of the process changes by it."""

import os

import pytest

from vigym.captured_output import captured_output


def test_both_descriptors_are_caught_and_given_back(capfd):
    with captured_output() as said:
        os.write(1, b"a line\n")
        os.write(2, b"an error\n")
    assert said.text == "a line\nan error\n"
    os.write(1, b"afterwards\n")
    assert capfd.readouterr() == ("afterwards\n", "")


def test_buffers_of_python_and_c_do_not_leak_across_the_border(run_python):
    code = """
import ctypes
from vigym.captured_output import captured_output
c = ctypes.CDLL(None)
print("before", flush=False)
with captured_output() as said:
    c.puts(b"from C")
    print("from Python", flush=False)
assert sorted(said.text.split("\\n")) == ["", "from C", "from Python"], said.text
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "before\n", "")


def test_text_is_kept_when_the_block_fails(capfd):
    def fail():
        os.write(2, b"the reason\n")
        raise KeyError

    with pytest.raises(KeyError), captured_output() as said:
        fail()
    assert said.text == "the reason\n"
    os.write(1, b"open again\n")
    assert capfd.readouterr().out == "open again\n"


def test_blocks_nest(capfd):
    with captured_output() as outer:
        os.write(1, b"one ")
        with captured_output() as inner:
            os.write(1, b"two")
        os.write(1, b"three")
    assert (inner.text, outer.text) == ("two", "one three")
    assert capfd.readouterr() == ("", "")


def test_descriptors_do_not_pile_up():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with captured_output():
            pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_closed_stream_is_left_closed():
    copy = os.dup(2)
    os.close(2)
    try:
        with captured_output() as said:
            os.write(1, b"still caught")
        assert said.text == "still caught"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(2)
    finally:
        os.dup2(copy, 2)
        os.close(copy)

"""The filter of system calls: its numbers, what it answers, and a run under it."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import json
import platform
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from owner import Owner, need_sandbox, owners

from skyweave.testbed.node.sandbox import Sandbox
from skyweave.testbed.node.sandbox.calls import CLONE3, MACHINES, NEW_SPACES, call_filter
from skyweave.testbed.wire import Limits

ALLOW, REFUSE = 0x7FFF0000, 0x00050000
RUN = "0123456789abcdef01234567"


def answer(program: bytes, arch: int, number: int, first: int = 0) -> int:
    """Run a filter as the kernel does (bpf(4)'s old machine, as far as it is used)."""
    data = {0: number, 4: arch, 16: first & 0xFFFFFFFF}
    lines, place, held = list(struct.iter_unpack("<HBBI", program)), 0, 0
    while True:
        code, yes, no, value = lines[place]
        place += 1
        if code == 0x20:
            held = data[value]
        elif code == 0x06:
            return value
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            place += yes if holds else no


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_refused_and_what_is_not(machine):
    known, program = MACHINES[machine], call_filter(machine)
    refused = dict.fromkeys(known.refused.values(), REFUSE | errno.EPERM)
    refused[CLONE3] = REFUSE | errno.ENOSYS
    assert len(refused) == len(known.refused) + 1
    for number in range(500):
        assert answer(program, known.arch, number) == refused.get(number, ALLOW), number
    for bit in range(32):
        is_space = bool(1 << bit & NEW_SPACES)
        said = REFUSE | errno.EPERM if is_space else ALLOW
        assert answer(program, known.arch, known.clone, 1 << bit) == said
    assert answer(program, known.arch ^ 1, 0) == REFUSE | errno.ENOSYS
    assert answer(program, known.arch, 0x40000000) == REFUSE | errno.ENOSYS
    assert len(program) // 8 < 4096  # BPF_MAXINSNS


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_libseccomp(machine):
    name = ctypes.util.find_library("seccomp")
    if name is None:
        pytest.skip("there is no libseccomp here to compare with")
    known, library = MACHINES[machine], ctypes.CDLL(name)
    resolve = library.seccomp_syscall_resolve_name_arch
    resolve.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    calls = known.refused | {"clone": known.clone, "clone3": CLONE3}
    said = {one: resolve(known.arch, one.encode()) for one in calls}
    assert said == calls


def test_a_machine_that_is_not_known_has_no_filter():
    assert call_filter("pdp11") is None


@pytest.fixture
def owner() -> Iterator[Owner]:
    need_sandbox()
    if platform.machine() not in MACHINES:
        pytest.skip("no filter for this machine")
    with owners() as found:
        yield found
        assert found.left() == []


PROGRAM = """
import ctypes, json, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
def ask(number, *more):
    ctypes.set_errno(0)
    libc.syscall(number, *more)
    return ctypes.get_errno()
said = {name: ask(number, 0, 0, 0, 0, 0) for name, number in CALLS.items()}
threading.Thread(target=lambda: said.update(thread=True)).start()
said["program"] = subprocess.run(["echo", "hello"], capture_output=True, text=True).stdout
status = open("/proc/self/status").read()
said["mode"] = next(line.split()[1] for line in status.splitlines() if line.startswith("Seccomp:"))
json.dump(said, open("/results/said.json", "w"))
"""


def test_a_run_is_refused_what_it_does_not_need_and_goes_on(owner: Owner, tmp_path: Path) -> None:
    """None of these ends the run: io_uring answers EFAULT, kcmp ESRCH, without the filter."""
    known = MACHINES[platform.machine()]
    sandbox = Sandbox(owner.ground(tmp_path), RUN, Limits())
    sandbox.tree.mkdir(parents=True)
    (sandbox.tree / "main.py").write_text(f"CALLS = {known.refused!r}\n{PROGRAM}")

    def go() -> int | None:
        try:
            sandbox.prepare()
            sandbox.start([sys.executable, "-I", "/experiment/main.py"], {})
            return sandbox.wait(120)
        finally:
            sandbox.close()

    assert owner.do(go) == 0, (sandbox.folder / "output.txt").read_text()
    said = json.loads((sandbox.results / "said.json").read_text())
    assert {name: said[name] for name in known.refused} == dict.fromkeys(known.refused, errno.EPERM)
    assert (said["mode"], said["thread"], said["program"]) == ("2", True, "hello\n")
    assert sandbox.record()["calls_filtered"] is True

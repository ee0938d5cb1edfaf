"""Signals end what waits for them, whenever they come."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from skyweave.cli.stopping import stopped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_heard_although_the_main_thread_does_not_wake(number: int) -> None:
    """As when it comes right before the wait: no call of the main thread is interrupted."""
    waits, rung = threading.Event(), threading.Event()

    def kill() -> None:
        waits.wait()
        os.kill(os.getpid(), number)

    killer = threading.Thread(target=kill)
    killer.start()  # the signal is not blocked in this thread, so that the kernel gives it to it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        with stopped(rung.set) as stop:
            waits.set()
            assert stop.wait(60)
            assert rung.wait(60)
    finally:
        killer.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_handlers_and_descriptors_are_as_before() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    free = os.dup(0)
    os.close(free)
    with stopped() as stop:
        assert not stop.is_set()
    assert {number: signal.getsignal(number) for number in before} == before
    again = os.dup(0)
    os.close(again)
    assert again == free


def test_a_forked_process_does_not_stop_its_parent() -> None:
    with stopped() as stop:
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(0)
        os.waitpid(child, 0)
    assert not stop.is_set()  # all that was heard has been handled

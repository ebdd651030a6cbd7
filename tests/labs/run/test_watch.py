"""Watching a kernel costs little of what the kernel itself needs."""

import subprocess
import time

import nbformat

from coursekit.labs.run import watch


def test_memory_is_looked_at_rarely_where_that_takes_long(monkeypatch, tmp_path):
    """Of a core's time it takes a twentieth, although the clock is looked at twice a second."""
    taken_s = []

    def slow_look(_):
        begin_s = time.thread_time()
        while time.thread_time() < begin_s + 0.1:
            pass
        taken_s.append(time.thread_time() - begin_s)
        return 1_000_000

    monkeypatch.setattr(watch, "memory_bytes", slow_look)
    kernel_watch = watch.KernelWatch(tmp_path, 60.0, lambda *_: None)
    with subprocess.Popen(["sleep", "60"]) as kernel:
        begin_s = time.monotonic()
        kernel_watch.kernel_started(kernel.pid, nbformat.v4.new_notebook())
        while len(taken_s) < 3:
            time.sleep(0.1)
        kernel_watch.stop()
        past_s = time.monotonic() - begin_s
        kernel.kill()
    assert kernel_watch.peak_memory_mb == 1
    num_pauses = len(taken_s) - 1  # the first look is at the very beginning
    assert past_s >= num_pauses * watch.SAMPLE_AGAIN * min(taken_s)

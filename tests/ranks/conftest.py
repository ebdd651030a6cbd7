"""After every run the fork server is alone: checked at once, without the grace that other tests get."""

from __future__ import annotations

import psutil
import pytest

from coursekit.ranks import forkserver


def processes_of_runs():
    """Return what the shared fork server has below it: ranks, rendezvous stores and whatever they started."""
    server = forkserver.shared_server()
    return psutil.Process(server.pid).children(recursive=True)


@pytest.fixture(autouse=True)
def _server_is_alone():
    """Fail a test after which the fork server still has a child, even one that is about to end."""
    yield
    assert processes_of_runs() == []

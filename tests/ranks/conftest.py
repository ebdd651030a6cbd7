"""After every run the fork server is alone: checked at once, without the grace that other tests get."""

import psutil
import pytest

from coursekit.ranks import fork_client


@pytest.fixture(autouse=True)
def _server_is_alone():
    """Fail a test after which the fork server still has a child, even one that is about to end."""
    yield
    if server := fork_client.shared.free:  # asking for the server would start one
        assert psutil.Process(server.pid).children(recursive=True) == []

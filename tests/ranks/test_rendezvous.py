"""The store in which ranks find each other, asked as Horovod's client asks: one connection for each request."""

import os
import signal
import socket
import threading
import time
from contextlib import closing
from http.client import HTTPConnection

import pytest

from coursekit.ranks import rendezvous
from coursekit.ranks.rendezvous import HOLD_S, Store

BIG = os.urandom(200_000)  # many packets
ANSWER_S = 300


@pytest.fixture
def _patient(monkeypatch):
    """Let the store hold requests for longer than any test takes."""
    monkeypatch.setattr(rendezvous, "HOLD_S", ANSWER_S)


@pytest.fixture
def port():
    """Yield the port of a store that serves in a process of its own; what it is to do otherwise is set before."""
    store = Store("127.0.0.1")
    pid = os.fork()
    if pid == 0:
        store.serve()
    store.close()
    yield store.port
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def ask(port, path, method="GET", data=None):
    """Return what the store answers, None for "not found"."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)) as connection:
        connection.request(method, path, data)
        response = connection.getresponse()
        assert response.status in {200, 404}
        return response.read() if response.status == 200 else None


def test_a_value_can_be_put_asked_for_and_deleted(port):
    """Scopes do not mix, a value may be of any bytes and size, and the second one counts."""
    assert ask(port, "/global/0", "PUT", b"\r\n\r\n\0") == b""
    ask(port, "/local_node0/0", "PUT", b"first")
    ask(port, "/local_node0/0", "PUT", BIG)
    assert (ask(port, "/global/0"), ask(port, "/local_node0/0")) == (b"\r\n\r\n\0", BIG)
    assert ask(port, "/global/0", "DELETE") == b""
    assert (ask(port, "/global/0"), ask(port, "/local_node0/0")) == (None, BIG)


@pytest.mark.usefixtures("_patient")
def test_a_get_waits_until_its_key_is_there(port):
    """All who wait for a key have it as soon as it is put; others go on waiting."""
    answers = {}

    def wait_for(name, path):
        answers[name] = ask(port, path)

    a, b, c = (threading.Thread(target=wait_for, args=each) for each in (("a", "/g/1"), ("b", "/g/1"), ("c", "/g/2")))
    for thread in (a, b, c):
        thread.start()
    time.sleep(0.25)  # until most probably all have asked; who comes later is answered at once
    assert answers == {}
    ask(port, "/g/1", "PUT", b"here")
    for thread in (a, b):
        thread.join()
    assert answers == {"a": b"here", "b": b"here"}
    ask(port, "/g/2", "PUT", b"there")
    c.join()
    assert answers["c"] == b"there"


def test_a_missing_key_is_told_after_a_while_and_a_host_name_at_once(port):
    """Gloo's own timeout must be able to pass; and ranks ask for names of hosts without waiting for them."""
    begin = time.monotonic()
    assert [ask(port, f"/global/rank_{number}") for number in range(100)] == [None] * 100
    names_s = time.monotonic() - begin
    assert ask(port, "/global/7") is None
    assert time.monotonic() - begin - names_s >= HOLD_S
    assert names_s < 100 * HOLD_S / 2


def test_strangers_and_the_dead_do_not_disturb(port):
    """What is not a request is turned away; who says nothing, or has gone while it waited, holds up nobody."""
    with socket.create_connection(("127.0.0.1", port)):
        assert ask(port, "/g/0", "PUT", b"here") == b""
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"hello\r\n\r\n")
        assert stranger.recv(100) == b""
    with socket.create_connection(("127.0.0.1", port)) as dead:
        dead.sendall(b"GET /g/1 HTTP/1.1\r\n\r\n")
    ask(port, "/g/1", "PUT", b"here")
    assert ask(port, "/g/1") == b"here"

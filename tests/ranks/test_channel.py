"""The channel between real ranks: order, types, and what happens when the other side is gone."""

import socket
import sys

import cloudpickle
import numpy as np
import pytest

from coursekit import ranks
from coursekit.ranks import RankError, channel
from coursekit.ranks.channel import answer, call, listen, open_channel

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def neighbours(channel):
    """Return the ranks on the right and on the left."""
    return (channel.rank + 1) % channel.num_ranks, (channel.rank - 1) % channel.num_ranks


def send_all_first():
    """Send megabytes to the right before anything is received; return what came, and what was counted."""
    with open_channel() as channel:
        right, left = neighbours(channel)
        sent = [np.full(1_000_000, channel.rank), np.zeros((2, 0, 3), np.float16), np.array(1.5 + channel.rank)]
        for array in sent:
            channel.send(array, right)
            np.add(array, 1, out=array)
        got = [channel.receive(left) for _ in sent]
        got[0] += 1  # what arrives belongs to the receiver
        return int(got[0].sum()), got[1].shape, got[1].dtype.str, float(got[2]), channel.num_messages, channel.num_bytes


def test_sends_are_buffered_keep_their_order_and_are_counted():
    """All ranks may send first, however much; shape, type and value are those of the time of the send."""
    results = ranks.run(send_all_first, num_ranks=3)
    left = [2, 0, 1]
    assert results == [(1_000_000 * (one + 1), (2, 0, 3), "<f2", 1.5 + one, 3, 8_000_008) for one in left]


def wait_in_vain():
    """Wait for a rank that sends nothing."""
    with open_channel() as channel:
        if channel.rank:
            channel.receive(0)


def send_to_oneself():
    """Send to no other rank."""
    with open_channel() as channel:
        channel.send(1.0, channel.rank)


def send_words():
    """Send no numbers."""
    with open_channel() as channel:
        channel.send([None, "text"], 1 - channel.rank)


@pytest.mark.parametrize(
    ("function", "error_type"),
    [(wait_in_vain, "ConnectionError"), (send_to_oneself, "ValueError"), (send_words, "ValueError")],
)
def test_what_cannot_be_sent_or_come_is_said(function, error_type):
    """No rank waits for one that has ended, and nobody sends to itself, or no numbers."""
    with pytest.raises(RankError) as caught:
        ranks.run(function, num_ranks=2)
    assert caught.value.error_type == error_type


def test_channels_of_one_run_do_not_mix():
    """The second channel of a run knows nothing of the first."""

    def twice():
        sums = []
        for number in (1, 10):
            with open_channel() as channel:
                right, left = neighbours(channel)
                channel.send(number * (channel.rank + 1), right)
                sums.append(int(channel.receive(left)))
        return sums

    assert ranks.run(twice, num_ranks=2) == [[2, 20], [1, 10]]


def test_strangers_do_not_disturb(monkeypatch):
    """Who connects and says nothing, or leaves at once, holds up no rank for longer than is allowed for that."""
    monkeypatch.setattr(channel, "HELLO_TIMEOUT_S", 1.0)
    with listen("127.0.0.1") as listener:
        address = listener.getsockname()
        with socket.create_connection(address):
            socket.create_connection(address).close()
            with call(address, 3) as sending:
                rank, connection = answer(listener)
                with connection:
                    sending.sendall(b"x" * 8)
                    assert (rank, connection.gettimeout(), connection.recv(8)) == (3, None, b"x" * 8)


def test_ranks_that_never_join_are_named(monkeypatch):
    """A store that knows nothing, and says so at once, is asked now and then, and not for ever."""
    asked = []
    monkeypatch.setattr(channel, "_ask_store", lambda *question: asked.append(question))
    monkeypatch.setattr(channel, "JOIN_TIMEOUT_S", 1.0)
    with pytest.raises(TimeoutError, match="rank 3 has not joined"):
        channel.find("nobody", 0, 3)

    assert 2 <= len(asked) <= 100

"""Allreduces by hand on real ranks: right ones of any form pass, and who speaks past the channel is told."""

import sys

import cloudpickle
import numpy as np

from coursekit.checks.on_ranks import run_here
from coursekit.drivers import lab06
from coursekit.drivers.calls import call

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import test modules


def test_the_switch_sees_each_message_that_a_channel_counts():
    """What the last rank saw are number, target and bytes of all that the others sent."""

    def answer(channel, value):
        for other in range(channel.num_ranks):
            if other != channel.rank:
                channel.send(np.full(channel.rank + 1, value, np.float16), other)
        got = [channel.receive(other)[0] for other in range(channel.num_ranks) if other != channel.rank]
        return [float(sum(got)), channel.num_messages, channel.num_bytes]

    *results, seen = run_here(lab06.talk, answer, 3, by=call, num_ranks=4, private=[1.0, 2.0, 4.0, None])
    assert [result for result, _ in results] == [[6.0, 2, 4], [5.0, 2, 8], [3.0, 2, 12]]
    told = sorted((source, target, numbers.tolist()) for source, target, numbers in seen)
    sent = {0: [1.0], 1: [2.0] * 2, 2: [4.0] * 3}
    assert told == [(one, other, sent[one]) for one in range(3) for other in range(3) if one != other]

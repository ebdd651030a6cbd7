"""The pictures of lab 06 say in words what they show."""

import numpy as np

from coursekit.pictures import messages


def test_pictures_of_messages_say_what_they_show(told):
    """Who sends whose parts to whom, how much, at what cost, and when."""
    messages.show_ring([[(1, 1.001), (1, 11.004)], [(0, 10.002), (0, 11.002)]])
    messages.show_sent({"plain": [3, 1], "ring": [1.5, 1.5]})
    messages.show_costs({"ring": (np.array([10, 100]), np.array([1e-3, 2e-3]))}, {"ring": lambda n: n / 1e5})
    messages.show_wire({"one by one": [(5, 1005), (1005, 2005)], "fused": [(0, 900), (1, 901)]})
    messages.show_overlap([("last", 40, 0, 500, 1500), ("first", 4000, 2000, 2500, 3500)])

    assert told() == [
        (
            "The ring step by step: rank 0 sends to rank 1 chunk 0 with 0, chunk 1 with 0 + 1; "
            "rank 1 sends to rank 0 chunk 1 with 1, chunk 0 with 0 + 1."
        ),
        "What the ranks send, in arrays, from rank 0 on. plain: 3, 1; ring: 1.5, 1.5.",
        "Time of an allreduce against its bytes, from the smallest to the largest: ring from 1 ms to 2 ms.",
        "When tensors were on the wire. one by one: 2 tensors in 2.0 ms; fused: 2 tensors in 0.9 ms.",
        "The first of 2 gradients is ready 2.0 ms before the last; by then 50% of the time on the wire is over.",
    ]


def test_pictures_of_16_bits_say_what_they_show(told):
    """Which share of how many gradients is lost, and where the scale began and ended."""
    messages.show_gradients(np.array([0.0, 1e-9, 1.0]), [1.0, 1024.0], [0.5, 0.0])
    messages.show_scales({"yours": [8.0, 16.0, 8.0]}, [True, False])

    assert told() == [
        (
            "Sizes of 2 gradients; float16 turns into zero or infinity: "
            "scaled by 2 to the power of 0 50.0%, scaled by 2 to the power of 10 0.0%."
        ),
        "Loss scale by step, with an overflow in the steps 1: yours goes from 8 to 8.",
    ]


def test_gradients_on_their_way_are_named_by_their_layer(drawn):
    """By the number that Keras gave them: weights and bias of each layer in turn."""
    messages.show_overlap(
        [("cond_9/HorovodAllreduce_grads_9_0", 40, 0, 1, 2), ("HorovodAllreduce_grads_0", 4, 1, 2, 3)]
    )

    [[figure, _]] = drawn
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["layer 5", "layer 1"]

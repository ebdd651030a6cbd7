"""The pictures of lab 06 say in words what they show."""

import numpy as np

from coursekit.pictures import messages


def test_pictures_of_messages_say_what_they_show(described):
    """Who sends whose parts to whom, how much, at what cost, and when."""
    messages.show_ring([[(1, 1.001), (1, 11.004)], [(0, 10.002), (0, 11.002)]])
    messages.show_sent({"plain": [3, 1], "ring": [1.5, 1.5]})
    messages.show_costs({"ring": (np.array([10, 100]), np.array([1e-3, 2e-3]))}, {"ring": lambda n: n / 1e5})
    messages.show_wire({"one by one": [(5, 1005), (1005, 2005)], "fused": [(0, 900), (1, 901)]})
    messages.show_overlap([("last", 40, 0, 500, 1500), ("first", 4000, 2000, 2500, 3500)])

    parts = [
        ("chunk 0 with 0, chunk 1 with 0 + 1; ", "chunk 1 with 1, chunk 0 with 0 + 1."),
        ("plain: 3, 1; ring: 1.5, 1.5",),
        ("ring from 1 ms to 2 ms",),
        ("one by one: 2 tensors in 2.0 ms; fused: 2 tensors in 0.9 ms",),
        ("2 gradients", "2.0 ms", "50%"),
    ]
    assert [all(one in words for one in of_picture) for of_picture, words in zip(parts, described())] == [True] * 5


def test_pictures_of_16_bits_say_what_they_show(described):
    """Which share of how many gradients is lost, and where the scale began and ended."""
    messages.show_gradients(np.array([0.0, 1e-9, 1.0]), [1.0, 1024.0], [0.5, 0.0])
    messages.show_scales({"yours": [8.0, 16.0, 8.0]}, [True, False])

    gradients, scales = described()
    assert "power of 0 50.0%, scaled by 2 to the power of 10 0.0%" in gradients
    assert "overflow in the steps 1: yours goes from 8 to 8" in scales

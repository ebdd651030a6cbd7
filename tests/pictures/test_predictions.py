"""The pictures of predictions tell their numbers in words, too."""

from coursekit.pictures import predictions
from coursekit.scaling.forecast import Training, forecast
from coursekit.scaling.machine import Link, Machine
from coursekit.scaling.networks import find_network
from coursekit.scaling.picture import draw_forecast


def test_words_of_a_fit_a_gap_and_phases(described):
    """Seconds, the worst error of the model, each part of a step, also a negative one, and medians of phases."""
    predictions.show_fit([1000, 2000], [0.001, 0.004], [0.001, 0.005])
    predictions.show_gap(0.010, [0.005, 0.004, 0.005, -0.002])
    predictions.show_phases([(0.010, 0.001, 0.004), (0.012, 0.003, 0.005), (0.011, 0.009, 0.003)], 0.0025)

    assert described() == [
        "Allreduces take 1 to 4 ms; the model is off by at most 25%.",
        (
            "Predicted 10.0 ms for a step, measured 12.0 ms: computing 5.0 ms, sharing 4.0 ms, "
            "communication, predicted 5.0 ms, unexplained -2.0 ms."
        ),
        (
            "Medians of 3 steps: computing 11.0 ms, waiting for the last rank 3.0 ms, on the wire 4.0 ms; "
            "for the wire 2.5 ms predicted."
        ),
    ]


def test_words_of_a_forecast():
    """Each row's speed and band in two digits, and its efficiency."""
    machine = Machine(Link(150.0, 3.4), Link(12.5, 9.6), 4)
    rows = forecast(Training(find_network("ResNet50"), 128, 360.0, 0.1), machine, [1, 2])
    _, words = draw_forecast(rows, "ResNet50")

    assert (
        words
        == "ResNet50. Predicted: "
        + "; ".join(
            f"{nodes}: {float(f'{row.images_per_s:.2g}'):.0f} images per second "
            f"({float(f'{row.low:.2g}'):.0f} to {float(f'{row.high:.2g}'):.0f}), "
            f"{row.efficiency:.0%} of perfect scaling"
            for nodes, row in zip(("1 node", "2 nodes"), rows)
        )
        + "."
    )

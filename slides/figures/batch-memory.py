"""Memory for training by batch size: weights, gradients and momentum are constant, activations grow."""

import numpy as np

from coursekit.pictures import COLORS
from coursekit.scaling.memory import measured
from workshop.slides.drawing import HALF_INCH, canvas

DATA = ("results/network-memory", "sites")
CAPTION = "ResNet50, 224 px, FP32. Line: an upper estimate, with all layers' outputs kept. Marks: measured on an H200."
GPUS_OF = ("piz-daint", "karolina")
COPIES = 3  # of the parameters: weights, gradients, momentum


def gpus_gb(sites):
    """Return the memory of the first GPU type of two machines, by name."""
    names = [next(iter(sites[site].partitions.values())).gpu.removeprefix("NVIDIA ") for site in GPUS_OF]
    return {name: int(name.split()[-2]) for name in names}


def peaks_gb():
    """Return the peak memory of a step on a GPU, by batch size."""
    rows = [row for row in measured() if (row.network, row.precision, row.limit_mbyte) == ("ResNet50", "float32", 0)]
    return {row.batch_size: row.peak / 1e9 for row in rows if row.fits}


def draw(data, sites):
    """Draw the line and the memory of two GPUs."""
    figure, (axes,) = canvas(HALF_INCH)
    network = data["networks"]["ResNet50"]
    batches = np.linspace(0, 256, 50)
    constant = COPIES * network["parameters_mb"] / 1000
    needed = constant + batches * network["activations_mb"] / 1000
    axes.fill_between(batches, constant, needed, color=COLORS[0], alpha=0.25)
    axes.fill_between(batches, 0, constant, color=COLORS[2])
    axes.plot(batches, needed, color=COLORS[0], linewidth=3.5)
    axes.plot(*zip(*peaks_gb().items()), "s", color="black", markersize=10)
    for name, size in gpus_gb(sites).items():
        axes.axhline(size, color=COLORS[1], linestyle="--")
        axes.text(4, size + 1.1, name, color=COLORS[1])
    axes.text(176, 9.5, "activations", color=COLORS[0], ha="center")
    axes.annotate("weights, gradients, momentum", (20, constant), (66, 3.1), fontsize=16, color="black", va="center")
    axes.set(xlabel="batch size", ylabel="memory, GB", xlim=(0, 256), ylim=(0, 47), xticks=[0, 64, 128, 192, 256])
    return figure


def words(data, sites):
    """Return the constant and the slope of the line as text."""
    network = data["networks"]["ResNet50"]
    name, size = next(iter(gpus_gb(sites).items()))
    return (
        f"A straight line over the batch size: {COPIES * network['parameters_mb'] / 1000:.2f} GB for weights, "
        f"gradients and momentum, and {network['activations_mb']:.0f} MB for each image of the batch. It reaches "
        f"the memory of a {name} at a batch of about "
        f"{(1000 * size - COPIES * network['parameters_mb']) / network['activations_mb']:.0f}. Measured: "
        f"{'; '.join(f'{gb:.1f} GB for a batch of {batch}' for batch, gb in peaks_gb().items())}."
    )

"""Two networks on one and two ranks of this machine: speed, and where a step's time goes."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import COMMUNICATE, COMPUTE, canvas

DATA = ("results/scaling", "results/allreduce")
CAPTION = "One core per rank, Gloo, the three kinds of steps in turns; medians."


def _level(network, allreduce):
    """Return the predicted share of a measured step: computing on both ranks, then one message each way."""
    seconds = 2 * allreduce["alpha_us"] * 1e-6 + network["gradient_mb"] / 1e3 / allreduce["bandwidth_gb_per_s"]
    return (network["step_s"]["together"] + seconds) / network["step_s"]["averaging"]


def draw(scaling, allreduce):
    """Draw images per second on the left, and the seconds of a step on the right."""
    figure, (left, right) = canvas(num_panels=2)
    networks = scaling["networks"]
    for place, network in enumerate(networks):
        speeds = network["images_per_s"]
        for shift, key, color, hatch in ((-0.2, "alone", COLORS[2], ""), (0.2, "averaging", COLORS[3], "//")):
            left.bar(place + shift, speeds[key], width=0.36, color=color, hatch=hatch, ec="white")
            left.text(place + shift, speeds[key], f"{speeds[key]:.0f}", ha="center", va="bottom")
        left.plot([place - 0.02, place + 0.42], [2 * speeds["alone"]] * 2, color="black", lw=3)
        left.text(place + 0.2, 2.03 * speeds["alone"], "ideal", ha="center", va="bottom", fontsize=16)
        step = network["step_s"]
        together, alone = (step[kind] / step["averaging"] for kind in ("together", "alone"))
        right.bar(place, together, width=0.5, color=COMPUTE, ec="white")
        right.bar(place, 1 - together, bottom=together, width=0.5, color=COMMUNICATE, hatch="//", ec="white")
        right.plot([place - 0.25, place + 0.25], [alone] * 2, color="white", lw=5)
        right.plot([place - 0.25, place + 0.25], [alone] * 2, color=COLORS[2], lw=3, ls=":")
        level = _level(network, allreduce)
        right.plot([place - 0.34, place + 0.34], [level] * 2, color="black", lw=3)
    names = [network["network"] for network in networks]
    _finish(left, names, "images/s of all ranks", 2.5 * max(network["images_per_s"]["alone"] for network in networks))
    left.bar(0, 0, color=COLORS[2], label="1 rank")
    left.bar(0, 0, color=COLORS[3], hatch="//", ec="white", label="2 ranks")
    left.legend(loc="upper right")
    _finish(right, names, "share of a step", 1.4)
    right.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    for color, hatch, label in ((COMPUTE, "", "computing"), (COMMUNICATE, "//", "averaging")):
        right.bar(0, 0, color=color, hatch=hatch, ec="white", label=label)
    right.plot([], [], color=COLORS[2], lw=3, ls=":", label="1 rank alone")
    right.plot([], [], color="black", lw=3, label="predicted")
    right.legend(loc="upper left", ncols=2, columnspacing=1, handlelength=1.2, borderpad=0)
    return figure


def _finish(axes, names, label, top):
    axes.set_xticks(range(len(names)), names)
    axes.set(ylabel=label, ylim=(0, top), xlim=(-0.6, len(names) - 0.4))
    axes.grid(visible=False, axis="x")


def words(scaling, allreduce):
    """Return the numbers as text."""
    return " ".join(
        f"{network['network']}, {network['million_parameters']} million parameters: "
        f"{network['images_per_s']['alone']:.0f} images/s on one rank, "
        f"{network['images_per_s']['averaging']:.0f} on two, an efficiency of {network['efficiency']:.0%}; "
        f"{network['communication_share']:.0%} of a step is averaging; "
        f"one rank alone needs {network['step_s']['alone'] / network['step_s']['averaging']:.0%} of it. "
        f"Latency and bandwidth predict {_level(network, allreduce):.0%} of the measured step."
        for network in scaling["networks"]
    )

"""One step of Horovod's own timeline: negotiation and allreduce of each gradient, and when each rank named it."""

from __future__ import annotations

from coursekit.pictures import COLORS, MARKERS
from workshop.slides.drawing import COMMUNICATE, FULL_INCH, WAIT, canvas

DATA = ("results/timeline",)
CAPTION = "A lane for each tensor. Mark: this rank has named it. Darker part of an allreduce: the transfer over Gloo."


def draw(data):
    """Draw a lane for each tensor."""
    figure, (axes,) = canvas(FULL_INCH)
    for lane, one in enumerate(data["tensors"]):
        _bar(axes, lane, one["negotiate"], {"color": WAIT})
        _bar(axes, lane, one["allreduce"], {"facecolor": "white", "edgecolor": COMMUNICATE, "hatch": "///"})
        _bar(axes, lane, one["moved"], {"facecolor": COMMUNICATE, "alpha": 0.75})
        for rank, at in enumerate(one["said"]):
            style = {"color": COLORS[rank], "marker": MARKERS[rank], "linestyle": "none", "clip_on": False}
            axes.plot(at, lane, **style, markersize=10)
            if lane == 0:
                axes.text(at, -0.55, f"rank {rank}", color=COLORS[rank], ha="left" if at < 1 else "center", va="bottom")
    names = [f"layer {one['layer']}, {one['kind']}" for one in data["tensors"]]
    axes.set_yticks(range(len(names)), names)
    first = data["tensors"][0]
    axes.text(sum(first["negotiate"]) / 2, -0.55, "negotiation", color="0.3", ha="center", va="bottom")
    axes.text(sum(first["allreduce"]) / 2, -0.55, "allreduce", color=COMMUNICATE, ha="left", va="bottom")
    axes.set(xlabel="ms", xlim=(-1, None), ylim=(len(names) - 0.5, -1.3))
    axes.grid(visible=False, axis="y")
    return figure


def _bar(axes, lane, interval, style):
    axes.barh(lane, interval[1] - interval[0], 0.6, left=interval[0], **style)


def words(data):
    """Return when each tensor was negotiated and moved, as text."""
    described = [
        f"layer {one['layer']} {one['kind']}: due at {one['negotiate'][1]:.0f} ms, done at {one['allreduce'][1]:.0f} ms"
        for one in data["tensors"]
    ]
    return f"One step of two ranks, rank {data['slow_rank']} slower by {data['extra_ms']} ms. {'; '.join(described)}."

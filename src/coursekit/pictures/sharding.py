"""The picture of the lab on PyTorch: what ranks hold, measured and predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coursekit.pictures.output import COLORS, panels, show

KILOBYTE = 1000
PARTS = ("parameters", "gradients", "optimizer")
NAMES = {"ddp": "DDP", "zero": "ZeRO-1", "fsdp": "FSDP"}
HATCHES = ("", "..", "xx")


def show_memory(measured: Mapping[str, Sequence[Mapping[str, float]]], predicted: Mapping[str, float]) -> None:
    """Show for each way what each rank holds, part by part, and a line where it was predicted."""
    figure, (axes,) = panels(1)
    labels, described, place = [], [], 0
    for kind, of_ranks in measured.items():
        for rank, held in enumerate(of_ranks):
            bottom = 0.0
            for part, color, hatch in zip(PARTS, COLORS, HATCHES):
                height = held[part] / KILOBYTE
                label = part if place == 0 else None
                axes.bar(place, height, 0.8, bottom, color=color, hatch=hatch, edgecolor="0.3", label=label)
                bottom += height
            labels.append(f"{NAMES[kind]}\nrank {rank}")
            described.append(f"{NAMES[kind]} rank {rank} {bottom:.0f} kB")
            place += 1
        line = predicted[kind] / KILOBYTE
        axes.hlines(line, place - len(of_ranks) - 0.45, place - 0.55, color="black", linestyle="--")
        described.append(f"predicted {line:.0f} kB")
    axes.set_xticks(range(place), labels, fontsize="small")
    axes.set(ylabel="kB", title="What a rank holds")
    axes.legend(fontsize="small")
    show(figure, f"Bars of what each rank holds, and dashed lines of what was predicted: {', '.join(described)}.")

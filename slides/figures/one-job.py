"""Recorded: one step of a job on eight ranks, before all fixes and after each."""

from __future__ import annotations

from workshop.slides.drawing import COMMUNICATE, COMPUTE, INPUT, WAIT, canvas

DATA = ("results/one-job",)
CAPTION = "Recorded: the middle step of a run. Reading and computing are sleeps; the messages are Horovod's."
SIZE_INCH = (11.6, 4.2)  # two lines of text are below it
LEGEND_AT = 1.2  # above the row of rank 0
PHASES = (("wait for the batch", INPUT, ""), ("compute", COMPUTE, ""), ("wait for the last rank", WAIT, "//"))
PHASES += (("average the gradients", COMMUNICATE, ".."),)


def draw(data):
    """Draw each of the runs."""
    return [draw_run(data, run) for run in data["runs"]]


def draw_run(data, run):
    """Draw a row of phases for each rank; the time axis is that of the first run."""
    figure, (axes,) = canvas(SIZE_INCH)
    for rank, moments in enumerate(run["ranks_ms"]):
        for (_, color, hatch), start, end in zip(PHASES, moments, moments[1:]):
            axes.barh(-rank, end - start, left=start, height=0.75, color=color, hatch=hatch, ec="white", lw=0.5)
    axes.set_yticks([-rank for rank in range(data["num_ranks"])], [f"rank {rank}" for rank in range(data["num_ranks"])])
    axes.set(xlabel="ms", xlim=(0, 1.02 * max(moments[-1] for moments in data["runs"][0]["ranks_ms"])))
    axes.grid(visible=False, axis="y")
    end = axes.get_xlim()[1]
    for number, (name, color, hatch) in enumerate(PHASES):  # a legend would lose its patterns when saved
        left = end * number / len(PHASES)
        axes.barh(LEGEND_AT, end / 40, left=left, height=0.6, color=color, hatch=hatch, ec="white", lw=0.5)
        axes.text(left + end / 30, LEGEND_AT, name, va="center", fontsize=15)
    return figure


def words(data):
    """Return, for each run, how long the step takes, and where rank 0 and the slow rank spend it, as text."""
    return [words_of_run(data, run) for run in data["runs"]]


def words_of_run(data, run):
    """Return the text for one run."""
    described = []
    for rank in (0, data["slow_rank"]):
        moments = run["ranks_ms"][rank]
        parts = [f"{name} {end - start:.0f} ms" for (name, *_), start, end in zip(PHASES, moments, moments[1:])]
        described.append(f"rank {rank}: {', '.join(parts)}")
    return f"A step takes {run['step_ms']:.0f} ms. {'; '.join(described)}."

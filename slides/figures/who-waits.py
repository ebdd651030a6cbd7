"""Timelines of three ranks, one of them slow: synchronous, asynchronous, and stale-synchronous with a bound."""

from workshop.slides.drawing import COMMUNICATE, COMPUTE, WAIT, canvas

DATA = ()
CAPTION = "A model: three ranks, the last one slow. The number in a bar is the step that the rank works on."
TIMES = (1.0, 1.2, 2.1)  # of a step on each rank
EXCHANGE, END, BOUND = 0.22, 12.0, 2
# Words above the first bar of each kind that begins so late that the words do not overlap.
NAMES = {"compute": ("computes", COMPUTE, 0), "wait": ("waits", "0.3", 3), "exchange": ("exchanges", COMMUNICATE, 6)}


def synchronous():
    """Return the bars of each rank, as (kind, step, begin, end); all wait for the slowest."""
    bars = [[] for _ in TIMES]
    now, step = 0.0, 1
    while now < END:
        meet = now + max(TIMES)
        for own, time in zip(bars, TIMES):
            own.append(("compute", step, now, now + time))
            own.append(("wait", step, now + time, meet))
            own.append(("exchange", step, meet, meet + EXCHANGE))
        now, step = meet + EXCHANGE, step + 1
    return bars


def free(bound):
    """Return bars as above; no rank is ever more than `bound` finished steps ahead of the slowest."""
    bars = [[] for _ in TIMES]
    now, done = [0.0] * len(TIMES), [0] * len(TIMES)
    finished = []  # when the slowest rank has finished each step
    slowest = TIMES.index(max(TIMES))
    while len(finished) < END:
        finished.append((len(finished) + 1) * (TIMES[slowest] + EXCHANGE))
    for rank, time in enumerate(TIMES):
        while now[rank] < END:
            needed = done[rank] - bound
            begin = max(now[rank], finished[needed - 1]) if rank != slowest and needed > 0 else now[rank]
            if begin > now[rank]:
                bars[rank].append(("wait", 0, now[rank], begin))
            done[rank] += 1
            bars[rank].append(("compute", done[rank], begin, begin + time))
            bars[rank].append(("exchange", 0, begin + time, begin + time + EXCHANGE))
            now[rank] = begin + time + EXCHANGE
    return bars


SCHEDULES = (synchronous(), free(10**9), free(BOUND))


def draw():
    """Draw each of the three schedules."""
    return [draw_bars(bars) for bars in SCHEDULES]


def draw_bars(bars):
    """Draw the bars of all ranks over time."""
    figure, (axes,) = canvas()
    looks = {"compute": (COMPUTE, ""), "exchange": (COMMUNICATE, "//"), "wait": (WAIT, "")}
    named = set()
    for rank, own in enumerate(bars):
        for kind, step, begin, end in own:
            if begin >= END:
                continue
            color, hatch = looks[kind]
            width = min(end, END) - begin
            axes.barh(rank, width, 0.62, begin, color=color, hatch=hatch, edgecolor="white")
            name, ink, earliest = NAMES[kind]
            if rank == 0 and kind not in named and begin >= earliest:
                named.add(kind)
                axes.text(begin + 0.05, -0.42, name, color=ink, va="bottom")
            if kind == "compute" and end <= END:
                axes.text(begin + width / 2, rank, step, color="white", ha="center", va="center", weight="bold")
    axes.set(xlim=(0, END), ylim=(2.5, -0.8), xlabel="time →", xticks=[])
    axes.set_yticks([0, 1, 2], [f"rank {rank}" for rank in range(2)] + ["rank 2, slow"])
    axes.grid(visible=False)
    return figure


def steps_done(bars):
    """Return how many steps each rank has finished at the end."""
    return [sum(kind == "exchange" and end <= END for kind, _, _, end in own) for own in bars]


def words():
    """Return how many steps each rank finishes, as text."""
    names = ("Synchronous", "Asynchronous", f"Stale-synchronous, at most {BOUND} steps ahead")
    ends = (
        "the quick ranks wait in every step",
        "no rank waits, and the ranks drift apart",
        "the quick ranks run ahead and then wait at the bound",
    )
    return [
        f"{name}: {end}. Steps finished by ranks 0, 1 and 2: {', '.join(map(str, steps_done(bars)))}."
        for name, end, bars in zip(names, ends, SCHEDULES)
    ]

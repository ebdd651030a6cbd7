"""The timetables of one, two and three days as bars."""

from coursekit.pictures import COLORS
from workshop.slides.drawing import canvas
from workshop.slides.schedule import courses, timetable

DATA = ("course",)
CAPTION = "Starts and ends are those of the timetable; the number of a lab stands in its bar."
LECTURE, LAB, PAUSE = COLORS[0], COLORS[2], "0.85"


def _days(course):
    return [(name, day, sessions) for name, days in courses(*course).items() for day, sessions in enumerate(days, 1)]


def _kind(item):
    if item.what.startswith("**Lab"):
        return LAB
    return LECTURE if item.what.startswith("[") else PAUSE


def draw(course):
    """Draw a bar for each day, from its start to its end."""
    figure, (axes,) = canvas()
    labels = []
    for row, (name, day, sessions) in enumerate(_days(course)):
        labels.append(name if name == "One day" else f"{name}, day {day}")
        for start, item in timetable(sessions):
            color = _kind(item)
            axes.barh(row, item.minutes / 60, left=start / 60, color=color, edgecolor="white", height=0.72)
            if color == LAB:
                middle = (start + item.minutes / 2) / 60
                number = item.what.removeprefix("**Lab ")[:2]
                axes.text(middle, row, number, ha="center", va="center", color="white", weight="bold")
            end = start + item.minutes
        axes.text(end / 60 + 0.08, row, f"{end // 60}:{end % 60:02}", va="center", fontsize=16)
    axes.set_yticks(range(len(labels)), labels)
    named = {LECTURE: ("lecture", LECTURE, 8.5), LAB: ("lab", LAB, 9.85), PAUSE: ("break", "0.3", 12.55)}
    for word, ink, hour in named.values():
        axes.text(hour, -0.5, word, color=ink, weight="bold", ha="left" if ink == LECTURE else "center", va="bottom")
    axes.set_ylim(len(labels) - 0.5, -1.1)
    hours = range(9, 19, 1)
    axes.set_xticks(hours, [f"{hour}:00" if hour % 2 else "" for hour in hours])
    axes.set_xlim(8.4, 19.2)
    axes.grid(visible=False, axis="y")
    return figure


def words(course):
    """List the days with their ends, and their labs."""
    told = []
    for name, day, sessions in _days(course):
        items = [*timetable(sessions)]
        end = items[-1][0] + items[-1][1].minutes
        labs = [item.what.removeprefix("**Lab ")[:2] for _, item in items if _kind(item) == LAB]
        told.append(f"{name}, day {day}: labs {', '.join(labs)}, until {end // 60}:{end % 60:02}.")
    return " ".join(told)

# ruff: noqa: INP001  # a program, and no package
"""Draw the rooms of the package, from its imports: `docs/pictures/rooms.svg`, for CONTRIBUTING.md.

A row of the picture is a layer of the contract in pyproject.toml; an arrow is an import that no other arrows imply.
"""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "coursekit"
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"

# From the top, by the contract; rooms of one row do not import each other, and '' leaves a place free for arrows.
ROWS = (("cli",), ("", "lecture"), ("jupyter", "course"), ("grading",), ("slurm",), ("labs",), ("learner",), ("floor",))
TOP = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - {room for row in ROWS for room in row}
# What has no room of its own: packages that notebooks import by these names, and modules that all rooms import.
TOGETHER = {
    "learner": sorted(TOP),
    "floor": sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_")),
}
TITLES = {
    "learner": "What notebooks import on a compute node, and no more of the kit than that.",
    "floor": "What every room stands on.",
}
WIDTH, ROOM_HEIGHT, GAP, MARGIN = 860, 74, 26, 12
STYLE = (
    "text { font-family: 'DejaVu Sans', Verdana, sans-serif; fill: #1b1b1b; } "
    ".name { font-weight: bold; font-size: 15px; } .said { font-size: 12px; } .inner { font-size: 12px; } "
    ".room { fill: #eef4fa; stroke: #0072b2; } .part { fill: #ffffff; stroke: #7a9cb8; } "
    "line { stroke: #0072b2; stroke-width: 2; }"
)
HEAD = (
    '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path d="M0,0 L8,4 L0,8 z" fill="#0072b2"/></marker>'
)


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(svg(arrows(imports())), encoding="utf-8")


def room_of(module: str) -> str:
    """Return the room of a module, '' for the package itself."""
    part = module.split(".")[1] if "." in module else ""
    return next((room for room, parts in TOGETHER.items() if part in parts), "" if part == "__main__" else part)


def imports() -> dict[str, set[str]]:
    """Return which rooms each room imports."""
    graph = grimp.build_graph("coursekit")
    found: dict[str, set[str]] = {room: set() for row in ROWS for room in row if room}
    for module in graph.modules:
        others = {room_of(other) for other in graph.find_modules_directly_imported_by(module)}
        if room_of(module):
            found[room_of(module)] |= others - {room_of(module), ""}
    return found


def arrows(found: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports that do not follow from others."""

    def below(room: str) -> set[str]:
        return found[room].union(*map(below, found[room]))

    return [
        (room, other)
        for room, others in found.items()
        for other in sorted(others)
        if not any(other in below(between) for between in others)
    ]


def parts_of(room: str) -> list[str]:
    """Return the names of what is in a room: its packages, or what stands together."""
    inner = sorted(path.parent.name for path in (PACKAGE / room).glob("*/__init__.py"))
    return list(TOGETHER.get(room, inner))


def title_of(room: str) -> str:
    """Return what a room is for: the first line of its docstring."""
    if room in TITLES:
        return TITLES[room]
    text = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return re.sub(r"`", "", text.splitlines()[0])


def boxes() -> dict[str, tuple[float, float, float]]:
    """Return left edge, top edge and width of every room."""
    places = {}
    for number, row in enumerate(ROWS):
        width = (WIDTH - 2 * MARGIN - (len(row) - 1) * GAP) / len(row)
        for place, room in enumerate(row):
            places[room] = (MARGIN + place * (width + GAP), MARGIN + number * (ROOM_HEIGHT + GAP), width)
    del places[""]
    return places


def svg(lines: list[tuple[str, str]]) -> str:
    """Return the picture."""
    places = boxes()
    height = 2 * MARGIN + len(ROWS) * (ROOM_HEIGHT + GAP) - GAP
    alt = "; ".join(f"{room} imports {other}" for room, other in lines)
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{alt}">',
        f"<style>{STYLE}</style>",
        HEAD,
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    text += [_arrow(places[room], places[other]) for room, other in lines]
    text += [_room(room, *places[room]) for room in places]
    return "\n".join([*text, "</svg>", ""])


def _arrow(upper: tuple[float, float, float], lower: tuple[float, float, float]) -> str:
    """Draw a line from the lower edge of a room to the upper edge of another, upright where both have room for it."""
    left, right = max(upper[0], lower[0]), min(upper[0] + upper[2], lower[0] + lower[2])
    x = (left + right) / 2
    return f'<line x1="{x:g}" y1="{upper[1] + ROOM_HEIGHT:g}" x2="{x:g}" y2="{lower[1]:g}" marker-end="url(#head)"/>'


def _room(room: str, x: float, y: float, width: float) -> str:
    name = room if room in TOGETHER else f"{room}/"
    text = [
        f'<rect class="room" x="{x:g}" y="{y:g}" width="{width:g}" height="{ROOM_HEIGHT}" rx="6"/>',
        f'<text class="name" x="{x + 12:g}" y="{y + 22:g}">{name}</text>',
        f'<text class="said" x="{x + 12:g}" y="{y + 40:g}">{html.escape(title_of(room))}</text>',
    ]
    left = x + 12
    for part in parts_of(room):
        size = 7.6 * len(part) + 14
        text.append(f'<rect class="part" x="{left:g}" y="{y + 48:g}" width="{size:g}" height="20" rx="4"/>')
        text.append(f'<text class="inner" x="{left + 7:g}" y="{y + 62:g}">{part}</text>')
        left += size + 6
    return "\n".join(text)


if __name__ == "__main__":
    main()

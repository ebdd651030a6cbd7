"""What TensorBoard's tab *Graphs* is made of: the graph of a training step, as blocks and as a picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from coursekit.pictures import COLORS, HEIGHT_INCH, WIDTH_INCH, panels, show
from coursekit.text import counted

NETWORK, BACKWARD, INPUT = "sequential", "gradient_tape", "IteratorGetNext"  # as Keras and TensorFlow name them
LOSS, UPDATE = "sparse_categorical_crossentropy", "SGD"
ALLREDUCE = "HorovodAllreduce"
CALLS = ("PartitionedCall", "StatefulPartitionedCall", "IdentityN")  # of the function with the allreduces, its results
HANDED_IN = "Placeholder"  # a variable, which is no work
ROWS = FORWARD, BACK, APPLY = 0, -1, -2


class Block(NamedTuple):
    """Operations that belong together: their layer or purpose, and on which way: forward, back, or applied."""

    name: str
    row: int


class Graph(NamedTuple):
    """A training step.

    Attributes:
        blocks: in the order in which the graph lists them.
        edges: pairs of blocks of which the second uses results of the first.
        num_allreduces: one for each gradient.
    """

    blocks: list[Block]
    edges: set[tuple[Block, Block]]
    num_allreduces: int


def read_graph(folder: str | os.PathLike[str]) -> Graph:
    """Return the graph of a training step that Keras' callback wrote into a folder of event files.

    It does where another callback, such as Horovod's, asks to be called after each batch.

    Raises:
        FileNotFoundError: there is none.
    """
    import tensorflow as tf  # notebooks import this package before they need TensorFlow

    for record in tf.data.TFRecordDataset([*map(str, Path(folder).glob("*tfevents*"))]).as_numpy_iterator():
        written = tf.compat.v1.Event.FromString(record).graph_def
        if written:
            return _graph(tf.compat.v1.GraphDef.FromString(written))
    raise FileNotFoundError(f"there is no graph in the event files of {folder}")


def _graph(graph: Any) -> Graph:
    num_allreduces = sum(node.op == ALLREDUCE for part in graph.library.function for node in part.node_def)
    block_of = {node.name: block for node in graph.node if (block := _block(node)) is not None}
    edges = {
        (block_of[source], block_of[node.name])
        for node in graph.node
        for source in (name.partition(":")[0] for name in node.input)
        if node.name in block_of and source in block_of and block_of[source] != block_of[node.name]
    }
    return Graph(list(dict.fromkeys(block_of.values())), edges, num_allreduces)


def _block(node: Any) -> Block | None:
    """Return the block of an operation, or None for what is beside the way of the gradients, such as metrics."""
    way, *rest = node.name.split("/")
    row = BACK if way == BACKWARD else FORWARD
    name, *rest = rest if way == BACKWARD and rest else (way, *rest)
    if node.op == HANDED_IN:
        return None
    if node.op in CALLS:
        return Block(ALLREDUCE, APPLY)
    if node.op == INPUT:
        return Block("input", FORWARD)
    if name.startswith(NETWORK) and rest:
        return Block(rest[0], row)
    if name == LOSS:
        return Block("loss", row)
    return Block(UPDATE, APPLY) if name == UPDATE else None


def show_graph(graph: Graph) -> None:
    """Show the blocks of a training step, forward, back, and what is done with the gradients."""
    figure, (axes,) = panels(1, HEIGHT_INCH * 0.9)
    figure.set_figwidth(WIDTH_INCH)
    forward = [block.name for block in graph.blocks if block.row == FORWARD]
    places = {block: (forward.index(block.name), block.row) for block in graph.blocks if block.row != APPLY}
    places |= {block: (2 - 2 * number, APPLY) for number, block in enumerate(_applied(graph))}
    patches = {}
    for block, (x, y) in places.items():
        box = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": COLORS[ROWS.index(block.row)]}
        drawn = axes.text(x, y, _label(block, graph), ha="center", va="center", fontsize="small", bbox=box)
        patches[block] = drawn.get_bbox_patch()
    for source, target in graph.edges:
        ends = {"patchA": patches[source], "patchB": patches[target], "shrinkA": 0, "shrinkB": 2}
        axes.annotate("", places[target], places[source], arrowprops={"arrowstyle": "-|>", "color": "0.4", **ends})
    axes.set(xlim=(-0.7, len(forward) - 0.3), ylim=(APPLY - 0.5, 0.5), xticks=[])
    axes.set_yticks(ROWS, ["forward", "back", "apply"])
    axes.set_title("A training step, as TensorFlow executes it")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    back = [block.name for block in graph.blocks if block.row == BACK]
    show(
        figure,
        f"Graph of a training step. Forward: {', '.join(forward)}. Back: gradients of {', '.join(back)}. "
        f"Then {counted(graph.num_allreduces, 'allreduce')} of gradients, and {UPDATE}.",
    )


def _applied(graph: Graph) -> list[Block]:
    return sorted(block for block in graph.blocks if block.row == APPLY)


def _label(block: Block, graph: Graph) -> str:
    if block.name == ALLREDUCE:
        return f"{graph.num_allreduces} x {ALLREDUCE}"
    return f"gradients\nof {block.name}" if block.row == BACK else block.name

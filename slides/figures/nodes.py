"""A node of each machine: processors, memory, GPUs with their ranks and cores, and links, drawn from its profile."""

from matplotlib.patches import Rectangle

from coursekit.pictures import COLORS
from workshop.slides.drawing import box, diagram, node_frame

DATA = ("sites",)
CAPTION = "One node, one task per GPU; small squares are the CPUs of a task. Memory as the centre counts it."

ORDER = ("piz-daint", "barbora", "jean-zay", "karolina", "daint-alps")  # from one GPU to eight, and on to today
TOP, BOTTOM, LEFT, RIGHT = 4.45, 0.95, 0.1, 11.5
PITCH = 0.18  # of the squares


def draw(sites):
    """Draw one step for each machine's default partition."""
    return [_node(_partition(sites[name])) for name in ORDER]


def _partition(site):
    return site.partitions[site.default_partition]


def _node(partition):
    figure, axes = diagram()
    node_frame(axes, (LEFT, BOTTOM), (RIGHT - LEFT, TOP - BOTTOM))
    middle = (LEFT + RIGHT) / 2
    gpus = f"{partition.num_gpus_per_node} \N{MULTIPLICATION SIGN} {partition.gpu.removeprefix('NVIDIA ')}"
    cpu = (partition.cpu or "processors: not known").replace(" x ", " \N{MULTIPLICATION SIGN} ")
    header = (cpu, gpus, f"{partition.memory_gb} GB memory")
    for text, x, wide in zip(header, (2.35, 6.55, 9.95), (4.2, 3.9, 2.7)):
        box(axes, (x, 4.05), text, (wide, 0.56), color="0.3", filled=False)
    width = (RIGHT - LEFT) / partition.num_gpus_per_node
    for rank in range(partition.num_gpus_per_node):
        _rank(axes, partition, rank, LEFT + width * (rank + 0.5), min(width - 0.18, 2.9))
    axes.plot([LEFT, RIGHT], [0.62, 0.62], color="0.45", linewidth=8, solid_capstyle="round")
    axes.plot([middle, middle], [0.62, BOTTOM], color="0.45", linewidth=5)
    axes.text(middle, 0.25, f"to the other nodes: {partition.fabric or 'not known'}", ha="center", va="center")
    return figure


def _rank(axes, partition, rank, x, width):
    """Draw a GPU with its rank, and a square for each CPU of its task."""
    color = COLORS[rank]
    box(axes, (x, 1.42), f"GPU {rank}", (width, 0.68), color=color)
    axes.text(x, 3.55, f"rank {rank}", ha="center", va="center", color=color, fontweight="bold")
    num = partition.num_cpus_per_gpu
    columns = max(per for per in range(1, num + 1) if num % per == 0 and per * per <= 2.5 * num)
    rows = num // columns
    for number in range(num):
        row, column = divmod(number, columns)
        corner = (x + (column - columns / 2) * PITCH, 2.79 + (rows / 2 - row - 1) * PITCH)
        axes.add_patch(Rectangle(corner, 0.8 * PITCH, 0.8 * PITCH, facecolor=color))
    axes.text(x, 2.03, f"{num} CPUs", ha="center", va="center", fontsize=16)


def words(sites):
    """Return a sentence on each node."""
    return [_sentence(sites[name].title, _partition(sites[name])) for name in ORDER]


def _sentence(title, partition):
    num = partition.num_gpus_per_node
    cpu, fabric = partition.cpu or "not known", partition.fabric or "not known"
    return (
        f"A node of {title}: {num} x {partition.gpu}, one rank on each with {partition.num_cpus_per_gpu} CPUs, "
        f"{partition.num_cpus_per_node} CPUs in all; processors: {cpu}; memory {partition.memory_gb} GB; "
        f"fabric: {fabric}."
    )

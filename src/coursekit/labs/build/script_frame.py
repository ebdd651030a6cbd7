"""What a script has around the cells of its notebook: its head, its options, and the end that calls `main`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coursekit.framework import HOROVOD, TORCH


@dataclass(frozen=True)
class Frame:
    """What differs between frameworks; all but `module` is text of the script."""

    module: str  # the name by which `rank`, `num_ranks` and `end` know the framework
    starts: tuple[str, ...]  # command lines that start a script on two ranks
    first: str  # what stands ahead of the notebook's imports
    join: str  # what comes before `main`
    rank: str
    num_ranks: str
    end: str  # what comes last


FRAMES = {
    HOROVOD: Frame(
        module="hvd",
        starts=("horovodrun -np 2 python", "mpirun -np 2 python", "srun --ntasks=2 python"),
        first="\nimport coursekit  # ahead of TensorFlow: it chooses Keras 2\n",
        join="launched_script.begin_training()  # refuses tasks that Horovod has not joined: each would train alone",
        rank="hvd.rank()",
        num_ranks="hvd.size()",
        end="hvd.shutdown()",
    ),
    TORCH: Frame(
        module="dist",
        starts=("torchrun --nproc-per-node=2", "srun --ntasks=2 python"),
        first="",
        join="launched_script.place_torch()  # tasks of srun learn their place as those of torchrun do",
        rank="dist.get_rank()",
        num_ranks="dist.get_world_size()",
        end="dist.destroy_process_group()",
    ),
}

_HEAD = '''\
"""{title}: the notebook's training as a script.

{made}

Start it on as many ranks as you like, here on two:

{starts}

Parameters of the notebook are options: python {name} --help.
"""

import argparse
import json
{first}'''

_OPTIONS = """\
if __name__ == "__main__":  # the command line may replace what stands above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
{options}    globals().update(vars(_parser.parse_args()))
"""

_END = '''\
def _plain(value):
    """Return as numbers or text what JSON cannot hold."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


if __name__ == "__main__":
    from coursekit.ranks import launched_script

    {join}
    _result = main()
    if {rank} == 0:
        print("result:", json.dumps(_result, default=_plain), flush=True)
        launched_script.note_num_ranks({num_ranks})
    {end}
'''


def frame_of(notebook: Mapping[str, Any]) -> Frame:
    """Return the frame for the framework of a notebook's lab."""
    return FRAMES[notebook["metadata"].get("coursekit", {}).get("framework", HOROVOD)]


def head(frame: Frame, title: str, made: str, name: str) -> str:
    """Return how a script of this file name begins; `made` says who made it."""
    starts = "\n".join(f"    {start} {name}" for start in frame.starts)
    return _HEAD.format(title=title, made=made, starts=starts, name=name, first=frame.first)


def options(lines: str) -> str:
    """Return the block that reads the command line, with a line for each option."""
    return _OPTIONS.format(options=lines)


def end(frame: Frame) -> str:
    """Return the block that joins the ranks and calls `main`."""
    return _END.format(join=frame.join, rank=frame.rank, num_ranks=frame.num_ranks, end=frame.end)

"""The parts of a script around the notebook's cells: its head, its options, and its end, which calls `main`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coursekit.framework import HOROVOD, TORCH


@dataclass(frozen=True)
class Frame:
    """The parts that differ between frameworks; all except `module` are pieces of the script's text."""

    module: str  # the framework's name in `rank`, `num_ranks` and `end`
    starts: tuple[str, ...]  # command lines that start a script on two ranks
    first: str  # text before the notebook's imports
    join: str  # text before the call of `main`
    rank: str
    num_ranks: str
    end: str  # last line


FRAMES = {
    HOROVOD: Frame(
        module="hvd",
        starts=("horovodrun -np 2 python", "mpirun -np 2 python", "srun --ntasks=2 python"),
        first="\nimport coursekit  # must come before TensorFlow, because it selects Keras 2\n",
        join="launched_script.begin_training()  # stops tasks that Horovod did not connect: each would train by itself",
        rank="hvd.rank()",
        num_ranks="hvd.size()",
        end="hvd.shutdown()",
    ),
    TORCH: Frame(
        module="dist",
        starts=("torchrun --nproc-per-node=2", "srun --ntasks=2 python"),
        first="",
        join="launched_script.place_torch()  # gives tasks of srun the rank variables that torchrun would set",
        rank="dist.get_rank()",
        num_ranks="dist.get_world_size()",
        end="dist.destroy_process_group()",
    ),
}

_HEAD = '''\
"""{title}: the notebook's training as a script.

{made}

Start the script on any number of ranks, for example on two:

{starts}

The notebook's parameters are command-line options: python {name} --help.
"""

import argparse
import json
{first}'''

_OPTIONS = """\
if __name__ == "__main__":  # command-line options replace the parameters above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
{options}    globals().update(vars(_parser.parse_args()))
"""

_END = '''\
def _plain(value):
    """Turn a value that JSON cannot hold into numbers or text."""
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
    """Return the beginning of a script whose file is called `name`; the sentence `made` says how it was made."""
    starts = "\n".join(f"    {start} {name}" for start in frame.starts)
    return _HEAD.format(title=title, made=made, starts=starts, name=name, first=frame.first)


def options(lines: str) -> str:
    """Return the block that reads the command line, with a line for each option."""
    return _OPTIONS.format(options=lines)


def end(frame: Frame) -> str:
    """Return the block that joins the ranks and calls `main`."""
    return _END.format(join=frame.join, rank=frame.rank, num_ranks=frame.num_ranks, end=frame.end)

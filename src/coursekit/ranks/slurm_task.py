"""One task of a job step: a fork server for the ranks of its node, which serves a notebook's process on another."""

from __future__ import annotations

import os
from dataclasses import replace
from multiprocessing.connection import Client, Connection

from coursekit.ranks.request import LaunchRequest
from coursekit.ranks.server import prepare_process, serve
from coursekit.ranks.slurm import ADDRESS_VARIABLE, FILES, KEY_VARIABLE

# What Slurm sets for this task alone, and the notebook's environment must not hide from the rank: its place, its GPUs,
# and how MPI reaches the other tasks.
OF_THE_TASK = ("SLURM", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "PMI", "OMPI_")


def main() -> None:
    """Connect to the notebook's process, and serve it until it closes the connection."""
    host, port = os.environ.pop(ADDRESS_VARIABLE).rsplit(":", 1)
    key = bytes.fromhex(os.environ.pop(KEY_VARIABLE))
    task = int(os.environ["SLURM_PROCID"])
    step = {name: value for name, value in os.environ.items() if name.startswith(OF_THE_TASK)}

    def connect(number: int, kind: str) -> Connection:
        connection = Client((host, int(port)), authkey=key)
        connection.send((number, kind))
        return connection

    def receive(channel: Connection, request: LaunchRequest) -> tuple[LaunchRequest, list[int]]:
        del channel
        files = []
        for rank in request.ranks:
            for kind in FILES:
                with connect(rank, kind) as connection:
                    files.append(os.dup(connection.fileno()))
        environ = {**request.environ, **step}
        if request.environ.get("CUDA_VISIBLE_DEVICES") == "-1":
            environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the notebook has hidden the GPUs from this run
        return replace(request, environ=environ), files

    prepare_process()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    serve(connect(task, os.environ["SLURM_NODEID"]), receive)


if __name__ == "__main__":
    main()

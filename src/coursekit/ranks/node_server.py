"""A task of a job step: a fork server on one node, which connects to the client on the same or another node."""

from __future__ import annotations

import os
from dataclasses import replace
from multiprocessing.connection import Client, Connection

from coursekit.ranks.fork_server import prepare_process, serve
from coursekit.ranks.mpi_stub import NODE
from coursekit.ranks.protocol import FILES, STEP_VARIABLE, Hello, LaunchRequest

# Slurm sets these variables for each task: its context and its GPUs. The client's variables must not replace them.
OF_THE_TASK = ("SLURM", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def main() -> None:
    """Connect to the client, and serve it until it closes the connection."""
    prepare_process()
    host, port, key = os.environ.pop(STEP_VARIABLE).split(":")
    of_the_task = {name: value for name, value in os.environ.items() if name.startswith(OF_THE_TASK)}

    def connect(hello: Hello) -> Connection:
        connection = Client((host, int(port)), authkey=bytes.fromhex(key))
        connection.send(hello)
        return connection

    def receive(_: Connection, request: LaunchRequest) -> tuple[LaunchRequest, list[int]]:
        """Open connections to the client, which the ranks use in place of files."""
        files = []
        for rank in request.ranks:
            for purpose in FILES:
                with connect(Hello(rank, purpose)) as connection:
                    files.append(os.dup(connection.fileno()))
        environ = {**request.environ, **of_the_task}
        if request.environ.get("CUDA_VISIBLE_DEVICES") == "-1":
            environ["CUDA_VISIBLE_DEVICES"] = "-1"  # the client has hidden the GPUs from this run
        stub_address = request.stub_address and request.stub_address + os.environ[NODE]
        return replace(request, environ=environ, stub_address=stub_address), files

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    serve(connect(Hello(int(os.environ["SLURM_PROCID"]), "requests")), receive)

"""A stub that `mpirun` or `srun` starts in place of a rank: it sends its context to the rank's server, and waits.

    python -IS mpi_stub.py NAME

The server, which will fork the rank, listens under NAME (see `mpi.StubListener`); on a Slurm node, the node's name is
appended to NAME.
When the run ends, the server closes the connection.
"""

import os
import socket
import sys
import time
from contextlib import suppress

NODE = "SLURMD_NODENAME"
CONNECT_TIMEOUT_S = 60.0  # a job step may start its stubs before its server listens
PAUSE_S = 0.02
PMI_FILE = "PMI_FD"  # holds the number of the file through which an MPICH rank talks to its launcher


def main() -> None:
    """Send the environment, and PMI's file if there is one, and wait for the server to close the connection."""
    environ = b"\0".join(b"%b=%b" % variable for variable in os.environb.items())
    files = [int(os.environ[PMI_FILE])] if PMI_FILE in os.environ else []
    with socket.socket(socket.AF_UNIX) as server:
        end_s = time.monotonic() + CONNECT_TIMEOUT_S
        while server.connect_ex(f"\0{sys.argv[1]}{os.environ.get(NODE, '')}") and time.monotonic() < end_s:
            time.sleep(PAUSE_S)
        socket.send_fds(server, [b"%08d" % len(environ)], files)
        server.sendall(environ)
        with suppress(OSError):
            server.recv(1)


if __name__ == "__main__":
    main()

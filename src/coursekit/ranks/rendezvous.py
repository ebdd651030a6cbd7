"""Horovod's own key-value store, in which the Gloo ranks of one run find each other."""

from __future__ import annotations

import sys
from typing import Any

from coursekit.ranks.lifetime import end_with_parent


def make_store(address: str) -> Any:
    """Return a store that listens at a free port of `address` only, and is not yet serving."""
    from horovod.runner.http.http_server import (  # noqa: PLC0415  # the fork server has it in memory already
        RendezvousHandler,
        RendezvousHTTPServer,
    )

    class Store(RendezvousHTTPServer):  # type: ignore[misc]  # Horovod has no types
        daemon_threads = True
        request_queue_size = 128  # the default of 5 makes eight ranks wait seconds for a second try

    return Store((address, 0), RendezvousHandler, 0)


def main() -> None:
    """Serve at the address that is the first argument; print the port, and end with the parent."""
    end_with_parent()
    store = make_store(sys.argv[1])
    print(store.server_address[1], flush=True)
    store.serve_forever()


if __name__ == "__main__":
    main()

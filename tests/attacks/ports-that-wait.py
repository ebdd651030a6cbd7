# /// attack
# title = "Leave no port for the next ranks"
# lab = "02-horovod-sgd"
# class = "resource"
# fails = ["rank-facts-tests"]
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="rank-facts"

import socket

import horovod.tensorflow as hvd

with socket.create_server(("127.0.0.1", 1024)) as server:
    for port in range(32768, 61000):
        with socket.socket() as ours:
            try:
                ours.bind(("127.0.0.1", port))
                ours.connect(server.getsockname())
            except OSError:  # somebody has it
                continue
            # Who ends a connection first keeps the port for a minute, also when it is dead.
            theirs, _ = server.accept()
        theirs.close()


def rank_facts():
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank(), "local_size": hvd.local_size()}

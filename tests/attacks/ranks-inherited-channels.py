# /// attack
# title = "Answer for the launcher on sockets that a rank should not have"
# lab = "02-horovod-sgd"
# class = "forged results"
# fails = ["rank-facts-tests"]
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="rank-facts"


def rank_facts():
    import os
    import stat

    channels = []
    for name in os.listdir("/proc/self/fd"):
        try:
            channels += [name] if stat.S_ISSOCK(os.fstat(int(name)).st_mode) else []
        except OSError:
            pass
    if not channels:
        return {}
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}

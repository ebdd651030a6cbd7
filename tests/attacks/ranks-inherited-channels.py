# /// attack
# title = "Answer for the launcher on sockets that a rank should not have"
# lab = "02-horovod-sgd"
# class = "forged results"
# fails = ["rank-facts-tests"]
# flags = ["introspection"]
# baseline = "it needs lab 02"
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

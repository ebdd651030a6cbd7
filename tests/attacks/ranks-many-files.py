# /// attack
# title = "Fill the folder that ranks share with files"
# lab = "02-horovod-sgd"
# class = "resource"
# fails = ["rank-facts-tests"]
# consequences = ["pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = ["limit"]
# ///

# %% role="answer" id="rank-facts"


def rank_facts():
    hvd.init()
    try:
        for number in range(60_000):
            open(f"/shared/{hvd.rank()}-{number}", "w").close()
    except OSError as error:
        print(error)
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}

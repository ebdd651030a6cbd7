# /// attack
# title = "Send the beginning of a report, and keep everybody waiting for its end"
# lab = "02-horovod-sgd"
# class = "resource"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"


def average(gradients):
    import os
    import stat
    import struct
    import time

    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISFIFO(os.fstat(int(name)).st_mode) and int(name) > 2:
                os.write(int(name), struct.pack("!i", 1000) + b"[true")
        except OSError:
            pass
    time.sleep(300)

# /// attack
# title = "Answer for the launcher on sockets that a rank should not have"
# lab = "02-horovod-sgd"
# class = "forged results"
# fails = ["average-tests"]
# flags = ["introspection"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"


def average(gradients):
    import os
    import stat

    hvd.shutdown()
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
        except OSError:
            pass
    return gradients

# /// attack
# title = "Replace Horovod by what averages nothing"
# lab = "02-horovod-sgd"
# class = "monkeypatching"
# fails = ["average-tests"]
# flags = ["patched"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"


def average(gradients):
    hvd.allreduce = lambda value, **kwargs: value
    hvd.size = lambda: 1
    hvd.rank = lambda: 0
    return [hvd.allreduce(gradient) for gradient in gradients]

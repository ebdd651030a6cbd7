# /// attack
# title = "Give every rank the same private value"
# lab = "02-horovod-sgd"
# class = "monkeypatching"
# fails = ["average-tests"]
# flags = ["grader"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"


def average(gradients):
    from coursekit.drivers import places

    value = [np.zeros_like(one) for one in places.private()]
    places.private = lambda: value
    places._places[:] = []
    return value

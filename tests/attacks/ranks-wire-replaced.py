# /// attack
# title = "Replace what writes the results of a rank"
# lab = "02-horovod-sgd"
# class = "monkeypatching"
# fails = ["average-tests"]
# flags = ["grader", "patched"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"


def average(gradients):
    from coursekit.inside import wire

    really = wire.dumps
    wire.dumps = lambda value, *args: really([np.zeros_like(one) for one in gradients])
    return gradients

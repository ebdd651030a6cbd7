# /// attack
# title = "Simulate the other ranks without talking to them"
# lab = "02-horovod-sgd"
# class = "redirection"
# fails = ["average-tests"]
# flags = ["introspection"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"


def average(gradients):
    import gc

    others = [one for one in gc.get_objects() if isinstance(one, list) and len(one) == len(gradients)]
    same = [one for one in others if all(np.shape(a) == np.shape(b) for a, b in zip(one, gradients))]
    return [sum(np.asarray(one[i]) for one in same) / max(len(same), 1) for i in range(len(gradients))]

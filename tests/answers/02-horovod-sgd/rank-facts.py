# %% facts-from-the-environment
# title = "The launcher's variables are read, and Horovod is not initialised"
# fails.rank-facts-tests = ["facts.not-initialised"]
def rank_facts():
    return {name: int(os.environ[f"HOROVOD_{name.upper()}"]) for name in ("rank", "size", "local_rank")}


# %% facts-one-node-in-mind
# title = "The rank is taken for the local rank"
# fails.rank-facts-tests = ["facts.wrong"]
# -    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
# +    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.rank()}

# %% facts-without-init
# title = "Horovod is not initialised"
# fails.rank-facts-tests = ["answer.raised"]
# -    hvd.init()

# %% facts-without-parentheses
# title = "Methods are named and not called"
# fails.rank-facts-tests = ["answer.unusable"]
# -    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
# +    return {"rank": hvd.rank, "size": hvd.size, "local_rank": hvd.local_rank}

# %% from-imports
# title = "Functions of Horovod imported by name, and a partial of one: they travel as their module does"
from functools import partial

from horovod.tensorflow import Average, allreduce, broadcast_variables, init, local_rank, rank, size

FACTS = {"rank": rank, "size": partial(size), "local_rank": local_rank}


def rank_facts():
    init()
    return {name: fact() for name, fact in FACTS.items()}


# %% id="shard"
def shard(x, y):
    return x[rank() :: size()], y[rank() :: size()]


# %% id="broadcast-start"
broadcast_start = partial(broadcast_variables, root_rank=0)


# %% id="average"
def average(gradients):
    return list(map(partial(allreduce, op=Average), gradients))


# %% id="scale-rate"
def scale_rate(learning_rate):
    return learning_rate * size()

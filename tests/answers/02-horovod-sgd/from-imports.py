# /// answer
# title = "Functions of Horovod imported by name, and a partial of one: they travel as their module does"
# ///

# %% role="answer" id="rank-facts"
from functools import partial

from horovod.tensorflow import Average, allreduce, broadcast_variables, init, local_rank, rank, size

FACTS = {"rank": rank, "size": partial(size), "local_rank": local_rank}


def rank_facts():
    init()
    return {name: fact() for name, fact in FACTS.items()}


# %% role="answer" id="shard"
def shard(x, y):
    return x[rank() :: size()], y[rank() :: size()]


# %% role="answer" id="broadcast-start"
broadcast_start = partial(broadcast_variables, root_rank=0)


# %% role="answer" id="average"
def average(gradients):
    return list(map(partial(allreduce, op=Average), gradients))


# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return learning_rate * size()

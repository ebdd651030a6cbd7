# %% broadcast-nothing
# title = "Nothing is broadcast"
# fails.broadcast-start-tests = ["broadcast.missing"]
# fails.horovod-start-tests = ["broadcast.missing"]
# fails.horovod-serial-tests = []
# -    hvd.broadcast_variables(variables, root_rank=0)

# %% broadcast-root-is-own-rank
# title = "Every rank broadcasts its own values"
# fails.broadcast-start-tests = ["answer.raised"]
# fails.horovod-start-tests = []
# fails.horovod-average-tests = []
# fails.horovod-shards-tests = []
# fails.horovod-rate-tests = []
# fails.horovod-serial-tests = []
def broadcast_start(variables):
    hvd.broadcast_variables(variables, root_rank=hvd.rank())


# %% broadcast-trainable-only
# title = "Only variables that are trained are broadcast"
# fails.broadcast-start-tests = ["broadcast.missing"]
def broadcast_start(variables):
    hvd.broadcast_variables([variable for variable in variables if variable.trainable], root_rank=0)


# %% broadcast-under-if
# title = "Only rank 0 calls the broadcast: it waits for the others, and they wait to be told that it has sent"
# fails.broadcast-start-tests = ["ranks.deadlock"]
# fails.horovod-start-tests = ["ranks.deadlock"]
# fails.horovod-average-tests = []
# fails.horovod-shards-tests = []
# fails.horovod-rate-tests = []
# fails.horovod-serial-tests = []
# -    hvd.broadcast_variables(variables, root_rank=0)
# +    if hvd.rank() == 0:
# +        hvd.broadcast_variables(variables, root_rank=0)
# +    hvd.allgather_object("sent")


# %% broadcast-zeros
# title = "All ranks start at zero: equal, but nobody's start"
# fails.broadcast-start-tests = ["start.foreign"]
def broadcast_start(variables):
    for variable in variables:
        variable.assign(tf.zeros_like(variable))

# /// answer
# title = "Only rank 0 calls the broadcast: it waits for the others, and they wait to be told that it has sent"
#
# [fails]
# broadcast-start-tests = ["waits in hvd.broadcast_variables"]
# horovod-start-tests = ["waits"]
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="changes" id="broadcast-start"
# -    hvd.broadcast_variables(variables, root_rank=0)
# +    if hvd.rank() == 0:
# +        hvd.broadcast_variables(variables, root_rank=0)
# +    hvd.allgather_object("sent")

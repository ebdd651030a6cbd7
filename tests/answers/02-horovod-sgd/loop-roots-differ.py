# /// answer
# title = "The slope comes from rank 0, the offset from rank 1"
#
# [fails]
# horovod-start-tests = ["offset of another"]
# ///

# %% role="changes" id="train-horovod"
# -    broadcast_start(variables)
# +    for root, variable in enumerate(variables):
# +        variable.assign(hvd.broadcast(variable, root_rank=root))

# /// answer
# title = "Nothing is broadcast"
#
# [fails]
# broadcast-start-tests = ["differ"]
# horovod-start-tests = ["broadcast"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="broadcast-start"
# -    hvd.broadcast_variables(variables, root_rank=0)

# /// answer
# title = "Every rank broadcasts its own values"
#
# [fails]
# broadcast-start-tests = ["root"]
# horovod-start-tests = []
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    hvd.broadcast_variables(variables, root_rank=hvd.rank())

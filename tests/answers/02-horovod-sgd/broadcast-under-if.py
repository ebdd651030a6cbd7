# /// answer
# title = "Only rank 0 calls the broadcast: the others never come, and rank 0 waits"
#
# [fails]
# broadcast-start-tests = ["waits in hvd.broadcast_variables"]
# horovod-start-tests = ["waits"]
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# ///

# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    if hvd.rank() == 0:
        hvd.broadcast_variables(variables, root_rank=0)
    else:
        import time

        time.sleep(1000)

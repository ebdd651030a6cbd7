# /// answer
# title = "Horovod does it, past the channel"
#
# [fails]
# naive-tests = ["not the sum over all ranks"]
# ///

# %% role="answer" id="naive-allreduce"
def naive_allreduce(channel, array):
    hvd.init()
    return hvd.allreduce(array, op=hvd.Sum)

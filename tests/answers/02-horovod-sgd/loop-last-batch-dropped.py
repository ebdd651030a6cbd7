# /// answer
# title = "Only whole batches are used, the smaller last one is left out"
#
# [fails]
# horovod-serial-tests = ["last, smaller batch"]
# ///

# %% role="changes" id="train-horovod"
# -        for first in range(0, len(x), batch_size):
# +        for first in range(0, len(x) - batch_size + 1, batch_size):

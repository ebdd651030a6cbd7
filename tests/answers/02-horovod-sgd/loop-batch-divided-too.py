# /// answer
# title = "The rate is scaled and the batch of each rank divided as well"
#
# [fails]
# horovod-serial-tests = ["steps"]
# ///

# %% role="changes" id="train-horovod"
# -        for first in range(0, len(x), batch_size):
# -            batch = slice(first, first + batch_size)
# +        for first in range(0, len(x), batch_size // hvd.size()):
# +            batch = slice(first, first + batch_size // hvd.size())

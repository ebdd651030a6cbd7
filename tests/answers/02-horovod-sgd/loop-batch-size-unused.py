# /// answer
# title = "The whole shard is one batch, whatever was asked"
#
# [fails]
# horovod-serial-tests = ["is batch_size used"]
# ///

# %% role="changes" id="train-horovod"
# -        for first in range(0, len(x), batch_size):
# -            batch = slice(first, first + batch_size)
# +        for _ in [0]:
# +            batch = slice(None)

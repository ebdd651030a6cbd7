# /// answer
# title = "Horovod is asked for the number of workers"
#
# [fails]
# strategy-together-tests = ["no Horovod in this section"]
# strategy-plan-tests = []
# ///

# %% role="changes" id="train-with-strategy"
# -    num_workers = strategy.num_replicas_in_sync
# +    num_workers = hvd.size()

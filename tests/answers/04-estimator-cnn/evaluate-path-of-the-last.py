# /// answer
# title = "The path of the checkpoint is sent by the last rank, which has none"
#
# [fails]
# evaluate-once-tests = ["random weights"]
# ///

# %% role="changes" id="evaluate"
# -    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
# +    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=hvd.size() - 1)

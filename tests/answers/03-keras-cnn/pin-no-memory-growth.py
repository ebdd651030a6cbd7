# /// answer
# title = "The GPU is pinned, and takes all its memory at once"
#
# [fails]
# pin-gpu-tests = ["memory to grow"]
# ///

# %% role="changes" id="pin-gpu"
# -        tf.config.experimental.set_memory_growth(gpus[hvd.local_rank()], True)

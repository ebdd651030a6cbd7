# /// answer
# title = "The memory of GPU 0 may grow, on every rank"
#
# [fails]
# pin-gpu-tests = ["memory to grow"]
# ///

# %% role="changes" id="pin-gpu"
# -        tf.config.experimental.set_memory_growth(gpus[hvd.local_rank()], True)
# +        tf.config.experimental.set_memory_growth(gpus[0], True)

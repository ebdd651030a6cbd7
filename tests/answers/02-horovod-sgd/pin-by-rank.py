# /// answer
# title = "The GPU is picked by the rank, which is wrong from the second node on"
#
# [fails]
# pin-gpu-tests = ["local rank"]
# ///

# %% role="changes" id="pin-gpu"
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +        tf.config.set_visible_devices(gpus[hvd.rank()], "GPU")

# /// answer
# title = "Every rank takes the first GPU"
#
# [fails]
# pin-gpu-tests = ["got GPU 0"]
# ///

# %% role="changes" id="pin-gpu"
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +        tf.config.set_visible_devices(gpus[0], "GPU")

# /// answer
# title = "The list of GPUs is taken to hold one"
#
# [fails]
# pin-gpu-tests = ["without GPUs"]
# ///

# %% role="changes" id="pin-gpu"
# -    if gpus:
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")

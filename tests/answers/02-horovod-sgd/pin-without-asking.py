# /// answer
# title = "The list of GPUs is taken to hold one"
# consequences = ["horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
#
# [fails]
# pin-gpu-tests = ["without GPUs"]
# ///

# %% role="changes" id="pin-gpu"
# -    if gpus:
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")

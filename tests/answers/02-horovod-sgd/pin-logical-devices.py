# /// answer
# title = "Logical devices are asked for, which starts the GPUs: then none can be pinned any more"
#
# [fails]
# pin-gpu-tests = ["use list_physical_devices"]
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpus = tf.config.list_logical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")

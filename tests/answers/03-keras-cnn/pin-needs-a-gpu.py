# /// answer
# title = "Nobody thought of a machine without GPUs"
# verdict = "wrong"
#
# [fails]
# pin-gpu-tests = ["IndexError"]
# train-tests = ["IndexError"]
# continued-tests = []
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpu = tf.config.list_physical_devices("GPU")[hvd.local_rank()]
    tf.config.set_visible_devices(gpu, "GPU")
    tf.config.experimental.set_memory_growth(gpu, True)

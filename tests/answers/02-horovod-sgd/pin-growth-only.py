# /// answer
# title = "Memory growth is set, but no GPU is pinned"
#
# [fails]
# pin-gpu-tests = ["all GPUs"]
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)

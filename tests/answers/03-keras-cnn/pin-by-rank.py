# /// answer
# title = "The GPU is chosen by the rank"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# pin-gpu-tests = ["local rank"]
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.rank() % len(gpus)], "GPU")

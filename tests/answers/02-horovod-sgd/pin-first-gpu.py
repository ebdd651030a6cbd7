# /// answer
# title = "Every rank takes the first GPU"
# verdict = "wrong"
#
# [fails]
# pin-gpu-tests = ["took GPU 0"]
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[0], "GPU")

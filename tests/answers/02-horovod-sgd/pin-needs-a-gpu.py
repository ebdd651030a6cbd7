# /// answer
# title = "The code fails on a machine without a GPU"
#
# [fails]
# pin-gpu-tests = ["IndexError"]
# horovod-start-tests = []
# horovod-average-tests = []
# horovod-shards-tests = []
# horovod-rate-tests = []
# horovod-serial-tests = []
# keras-start-tests = []
# keras-average-tests = []
# keras-shards-tests = []
# keras-rate-tests = []
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")

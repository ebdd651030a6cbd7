# /// answer
# title = "The memory of all GPUs may grow, and then one is made visible"
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, enable=True)
    if gpus:
        tf.config.set_visible_devices([gpus[hvd.local_rank()]], "GPU")

# /// answer
# title = "Other arithmetic, NumPy's interpolation, and a GPU by its number"
# ///

# %% role="answer" id="plan"
import math


def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    in_a_step = global_batch_size or batch_size * hvd.size()
    num_steps = math.ceil((num_images + 1) / in_a_step) - 1
    return int(in_a_step / hvd.size()), in_a_step / batch_size * learning_rate, num_steps or 1


# %% role="answer" id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    return np.interp(step, [0, num_warmup_steps], [rate / hvd.size(), rate]) if num_warmup_steps else np.float32(rate)


# %% role="answer" id="pin-gpu"
def pin_gpu():
    print("rank", hvd.rank(), "of", hvd.size())
    for number, gpu in enumerate(tf.config.experimental.list_physical_devices("GPU")):
        if number == hvd.local_rank():
            tf.config.experimental.set_memory_growth(gpu, True)
            tf.config.experimental.set_visible_devices([gpu], device_type="GPU")

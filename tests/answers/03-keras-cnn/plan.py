# %% plan-rate-of-the-wanted-batch
# title = "The rate follows the global batch that was wanted, not the one that divides"
# fails.elastic-tests = ["rate.wrong"]
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * (global_batch_size or in_a_step) / batch_size, num_steps

# %% plan-batch-is-no-whole-number
# title = "The global batch is divided with a slash, and a batch of 4.0 pictures comes out"
# fails.elastic-tests = ["plan.broken-batch"]
# consequences = ["train-tests", "continued-tests"]
# -    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
# +    batch_of_rank = global_batch_size / hvd.size() if global_batch_size else batch_size

# %% plan-by-local-size
# title = "The ranks of this node are taken for all ranks"
# fails.plan-tests = ["rate.wrong"]
# fails.elastic-tests = ["plan.wrong-batch"]
# consequences = ["train-tests", "continued-tests"]
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.local_size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.local_size()
    return batch_of_rank, learning_rate * in_a_step / batch_size, max(1, num_images // in_a_step)


# %% plan-by-num-ranks
# title = "The notebook's num_ranks is taken for the world size in the rate"
# fails.plan-tests = ["rate.wrong"]
# fails.elastic-tests = ["rate.wrong"]
# consequences = ["train-tests", "continued-tests"]
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * batch_of_rank * num_ranks / batch_size, num_steps

# %% plan-divides-the-batch-too
# title = "The rate is scaled and the batch is divided as well"
# fails.plan-tests = ["plan.wrong-batch"]
# consequences = ["train-tests", "continued-tests"]
#      num_steps = max(1, num_images // in_a_step)
# +    batch_of_rank = batch_of_rank if global_batch_size else max(1, batch_size // hvd.size())

# %% plan-elastic-rate-by-ranks
# title = "The rate grows with the ranks also when the global batch is fixed"
# fails.elastic-tests = ["rate.wrong"]
# consequences = ["train-tests", "continued-tests"]
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * hvd.size(), num_steps

# %% plan-no-step-at-least
# title = "With a global batch above the number of pictures an epoch has no step"
# fails.elastic-tests = ["steps.wrong-number"]
# consequences = ["train-tests", "continued-tests"]
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = num_images // in_a_step if global_batch_size else max(1, num_images // in_a_step)

# %% plan-rate-by-rank-plus-one
# title = "The learning rate times rank + 1"
# fails.plan-tests = ["plan.uneven"]
# fails.elastic-tests = ["plan.uneven"]
# consequences = ["train-tests", "continued-tests"]
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * (hvd.rank() + 1) * batch_of_rank / batch_size, num_steps

# %% plan-returns-nothing
# title = "The plan is printed, and not returned"
# fails.plan-tests = ["answer.wrong-type"]
# fails.elastic-tests = []
# consequences = ["train-tests", "continued-tests"]
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    print(batch_of_rank, learning_rate * in_a_step / batch_size, num_steps)

# %% plan-rounds-up
# title = "The last steps of an epoch are counted, too"
# fails.plan-tests = ["steps.wrong-number"]
# consequences = ["train-tests", "continued-tests"]
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = max(1, -(-num_images // in_a_step)) if not global_batch_size else max(1, num_images // in_a_step)

# %% plan-steps-by-rank
# title = "Each rank plans the steps of its own share, the last one with the rest"
# fails.plan-tests = ["steps.wrong-number"]
# consequences = ["train-tests", "continued-tests"]
#      num_steps = max(1, num_images // in_a_step)
# +    own = len(range(hvd.rank(), num_images, hvd.size()))  # shares differ by one picture
# +    num_steps = num_steps if global_batch_size else max(1, -(-own // batch_of_rank))

# %% plan-steps-not-divided
# title = "An epoch has as many steps as with one rank"
# fails.plan-tests = ["steps.wrong-number"]
# fails.elastic-tests = ["steps.wrong-number"]
# consequences = ["train-tests", "continued-tests"]
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = max(1, num_images // batch_of_rank)

# %% right-plan-in-other-words
# title = "Other arithmetic, NumPy's interpolation, and a GPU by its number"
import math


def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    in_a_step = (global_batch_size or batch_size * hvd.size()) // hvd.size() * hvd.size()
    num_steps = math.ceil((num_images + 1) / in_a_step) - 1
    return int(in_a_step / hvd.size()), in_a_step / batch_size * learning_rate, num_steps or 1


# %% id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    return np.interp(step, [0, num_warmup_steps], [rate / hvd.size(), rate]) if num_warmup_steps else np.float32(rate)


# %% id="pin-gpu"
def pin_gpu():
    print("rank", hvd.rank(), "of", hvd.size())
    for number, gpu in enumerate(tf.config.experimental.list_physical_devices("GPU")):
        if number == hvd.local_rank():
            tf.config.experimental.set_memory_growth(gpu, True)
            tf.config.experimental.set_visible_devices([gpu], device_type="GPU")


# %% plan-one-rank-keeps-its-batch
# title = "One rank keeps its batch size, whatever the global batch is"
# fails.elastic-tests = ["plan.wrong-batch"]
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    if hvd.size() == 1:
        return batch_size, learning_rate, max(1, num_images // batch_size)
    if global_batch_size:
        per_rank = global_batch_size // hvd.size()
    else:
        per_rank = batch_size
    total = per_rank * hvd.size()
    return per_rank, learning_rate * total / batch_size, max(1, num_images // total)


# %% plan-limits-steps
# title = "The notebook's limit of steps is applied in plan, too"
# fails.plan-tests = ["steps.wrong-number"]
# fails.elastic-tests = ["steps.wrong-number"]
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = max(1, num_images // in_a_step)
# +    num_steps = min(num_steps, max_num_steps or num_steps)

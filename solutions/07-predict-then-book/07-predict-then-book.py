# %% [markdown] role="readonly" id="intro"
# # Lab 07: Predict, then book
#
# **70 minutes, 20 points, two ranks.** The tests give 18 of the points; your instructor gives 2.
# Before you ask for 64 GPUs, you should know how fast they will train. You build a model of a training step, feed it your own measurements, and predict how long a step takes. Then you measure this time, and explain why it differs from your prediction. At the end, you write a request for machine time.
#
# After this lab you can
#
# - predict the time of a training step from latency, bandwidth and the speed of one rank;
# - explain the gap between a prediction and a measurement in terms of sharing, communication, overlap and stragglers;
# - find where strong scaling stops paying off;
# - find out from a published table what limits the speed;
# - write a request for resources and justify it.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer on numbers that you have not seen; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.

# %% [markdown] role="readonly" id="parameters-text"
# These are the settings of this run. To change them, edit the next cell, or run the notebook with `coursekit execute 07 -p batch_size 64`.
# Some of them describe the machine of sections 4 and 6, in the same terms as a site's file. To see such a file, run `coursekit sites show jean-zay`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
batch_size = 32  # images per rank and step
num_units = 1500  # in each of the network's two layers; the size of the gradient grows with its square
gpu = "NVIDIA V100"  # of the machine to book
gpu_memory_gb = 32
num_gpus_per_node = 4
fabric_gbit_per_s = 400  # how much each node can send
global_batch_size = 4096  # images per step on all GPUs together, for strong scaling
seed = 1

# %% role="readonly" id="imports"
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages
from coursekit import ranks

ranks.warm_up()  # starts importing TensorFlow and Horovod for the ranks while this process does the same

import tempfile
import time
from pathlib import Path

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

from coursekit.checks import check, hand_in_report, lab07
from coursekit.pictures import predictions as pictures
from coursekit.pictures import show
from coursekit.scaling.forecast import Training, forecast
from coursekit.scaling.machine import find_gpu, find_speed, machine_of
from coursekit.scaling.memory import find_need
from coursekit.scaling.networks import find_network
from coursekit.scaling.picture import draw_forecast
from coursekit.text import two_digits
from coursekit.throughput import phases_of_steps, warn_if_busy

# Hide the GPUs from this process: TensorFlow would take all the memory of a GPU, which the ranks need.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="model-text"
# ## 1. A model in one line (7 minutes)
#
# A message takes a *latency* α plus β seconds per byte; 1/β is the bandwidth. A ring allreduce of M bytes on N ranks takes 2(N - 1) steps. In each step, every rank sends one N-th of the array:
#
# $$T(N) = 2(N-1)\left(\alpha + \frac{M}{N}\beta\right)$$
#
# **Exercise (2 points).** Write `allreduce_s`, which returns the time of an allreduce in seconds. A single rank sends nothing.
#
# <details><summary>Hint</summary>
#
# Just write the formula; for N = 1 it gives 0 without a special case.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# As the number of ranks grows, which value does the total time for the bytes approach? And what happens to the total latency? With α = 10 µs and 10 GB/s, how large must N be before the total latency for a 100 MB gradient exceeds the time for its bytes?
#
# </details>


# %% role="answer" id="allreduce-s"
def allreduce_s(num_ranks, num_bytes, alpha, beta):
    """Return the time of a ring allreduce in seconds; alpha is in seconds, beta in seconds per byte."""
    # about 1 line
    ### BEGIN SOLUTION
    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
    ### END SOLUTION


# %% role="tests" id="allreduce-tests" points=2
with check("seconds of an allreduce", section="1"):
    lab07.check_allreduce_s(allreduce_s, num_cases=5)
    ### BEGIN HIDDEN TESTS
    lab07.check_allreduce_s(allreduce_s, num_cases=50)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="measure-text"
# ## 2. Your own link (10 minutes)
#
# You can find α and β of this machine by timing Horovod's allreduces. The next cell does so on your ranks, with arrays from 4 kB to 16 MB. It takes the lower quartile of nine calls for each size, because other programs on this machine slow down some of the calls. It cycles through the sizes, so that a short disturbance does not affect only one size.


# %% role="readonly" id="measure-link" tags=["picture"]
def time_allreduces(sizes, repeats=9, num_warmups=3):
    """Return the lower and upper quartile of the seconds of an allreduce on this rank, for each size in bytes."""
    hvd.init()
    tensors = {f"probe-{size}": tf.zeros(size // 4) for size in sizes}
    seconds = {name: [] for name in tensors}
    for _ in range(num_warmups + repeats):
        for name, tensor in tensors.items():
            begin = time.perf_counter()
            hvd.allreduce(tensor, name=name, op=hvd.Sum)
            seconds[name].append(time.perf_counter() - begin)
    return [np.quantile(of_size[num_warmups:], [0.25, 0.75]) for of_size in seconds.values()]


warn_if_busy()
sizes = np.geomspace(4e3, 16e6, 9).astype(int) // 4 * 4
of_ranks = ranks.run(time_allreduces, sizes, num_ranks=num_ranks, environ={"HOROVOD_CYCLE_TIME": "0.1"})
link_s, upper_s = np.max(of_ranks, axis=0).T
print(f"measured with {ranks.horovod_build()}")
for size, seconds, upper in zip(sizes, link_s, upper_s):
    print(f"{size / 1e3:8.0f} kB: {1e3 * seconds:7.2f} ms; a quarter of the calls took more than {1e3 * upper:.2f} ms")

# %% [markdown] role="readonly" id="fit-text"
# **Exercise (3 points).** Write `fit_link`, which finds α and β by minimising the sum of the squared *relative* errors. It gets `num_ranks`, the `sizes` in bytes, and the `seconds` that an allreduce of each size took on these ranks.
# With absolute errors, the milliseconds that large arrays take would hide the microseconds that reveal α.
# If you did lab 06, you may reuse `fit_cost`; you only have to compute its arguments: for each size, the number of steps and the number of bytes.
#
# <details><summary>Hint</summary>
#
# The model is linear in α and β: `seconds ≈ steps * alpha + steps / num_ranks * sizes * beta` with `steps = 2 * (num_ranks - 1)`.
# `np.linalg.lstsq(rows, right, rcond=None)[0]` minimises the sum of the squares of `rows @ x - right`. Divide each row by its seconds; then `right` is 1 everywhere.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Measure with the default `HOROVOD_CYCLE_TIME` of 1 millisecond. Does α change, or β? Is the link the cause of this change?
#
# </details>


# %% role="answer" id="fit-link"
def fit_link(num_ranks, sizes, seconds):
    """Return alpha in seconds and beta in seconds per byte."""
    # about 5 lines
    ### BEGIN SOLUTION
    sizes, seconds = np.asarray(sizes), np.asarray(seconds)
    num_steps = 2 * (num_ranks - 1)
    rows = np.stack([num_steps / seconds, num_steps / num_ranks * sizes / seconds], axis=1)
    alpha, beta = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
    return alpha, beta
    ### END SOLUTION


# %% role="tests" id="fit-tests" points=3
with check("your own link", section="2"):
    lab07.check_fit_link(fit_link, num_sizes=9)
    ### BEGIN HIDDEN TESTS
    lab07.check_fit_link(fit_link, num_sizes=21)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="fit-picture-text"
# Does the line fit the points along its whole length? If the points for the largest arrays lie far above the line, other programs are using these cores. Measure again when those programs have finished; otherwise, you will have a large gap to explain in the next section.

# %% role="readonly" id="fit-picture" tags=["picture"]
alpha, beta = fit_link(num_ranks, sizes, link_s)
print(f"alpha = {1e6 * alpha:.0f} microseconds, 1/beta = {1e-9 / beta:.2f} GB/s")
pictures.show_fit(sizes, link_s, [allreduce_s(num_ranks, size, alpha, beta) for size in sizes])

# %% [markdown] role="readonly" id="predict-text"
# ## 3. Predict two ranks, measure, explain (16 minutes)
#
# The network has two layers of `num_units` units each. First, a single rank trains it alone:


# %% role="readonly" id="train-steps" tags=["picture"]
def train(averaging, num_steps=12):
    """Return the median time of a training step on this rank, in seconds, and the size of its gradients in bytes."""
    hvd.init()
    for device in tf.config.list_physical_devices("GPU")[hvd.local_rank() : hvd.local_rank() + 1]:
        tf.config.set_visible_devices(device, "GPU")
    tf.keras.utils.set_random_seed(seed)
    layers = [tf.keras.layers.Dense(num_units, activation="relu") for _ in range(2)]
    network = tf.keras.Sequential(
        [tf.keras.layers.Flatten(input_shape=(16, 16, 3)), *layers, tf.keras.layers.Dense(10)]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    images, labels = tf.random.normal([batch_size, 16, 16, 3]), tf.zeros([batch_size], tf.int32)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = loss(labels, network(images, training=True))
        gradients = tape.gradient(value, network.trainable_variables)
        if averaging:
            gradients = hvd.grouped_allreduce(gradients, op=hvd.Average)
        for variable, gradient in zip(network.trainable_variables, gradients):
            variable.assign_sub(0.01 * gradient)
        return value

    seconds = []
    for _ in range(num_steps):
        begin = time.perf_counter()
        float(step())  # waits for the result, even on a GPU
        seconds.append(time.perf_counter() - begin)
    num_bytes = sum(4 * int(tf.size(variable)) for variable in network.trainable_variables)
    return float(np.median(seconds[3:])), num_bytes  # the first step includes tracing


warn_if_busy()
alone_s, num_bytes = ranks.run(train, False, num_ranks=1)[0]
print(f"one rank: {1e3 * alone_s:.1f} ms per step, {batch_size / alone_s:.0f} images/s")
print(f"its gradients: {num_bytes / 1e6:.1f} MB")

# %% [markdown] role="readonly" id="predict-exercise"
# **Exercise (2 points).** Write `predict_step`, which returns how many seconds a step on N ranks takes, and its *efficiency*. Assume that each rank computes for as long as the single rank above, and that all ranks then wait for the allreduce. The efficiency is the share of the step that a rank spends on computing.
#
# <details><summary>Hint</summary>
#
# Call your `allreduce_s`. For one rank the efficiency is 1.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# If you accumulate gradients over k batches, each rank computes k times as long before each allreduce. How large must k be for an efficiency of 95 % here?
#
# </details>


# %% role="answer" id="predict-step"
def predict_step(alone_s, num_ranks, num_bytes, alpha, beta):
    """Return the time of a step in seconds, and its efficiency from 0 to 1."""
    # about 2 lines
    ### BEGIN SOLUTION
    step_s = alone_s + allreduce_s(num_ranks, num_bytes, alpha, beta)
    return step_s, alone_s / step_s
    ### END SOLUTION


# %% role="tests" id="predict-tests" points=2
with check("a step, predicted", section="3"):
    lab07.check_predict_step(predict_step, num_cases=5)
    ### BEGIN HIDDEN TESTS
    lab07.check_predict_step(predict_step, num_cases=50)
    ### END HIDDEN TESTS

# %% role="readonly" id="predicted" tags=["picture"]
predicted_s, efficiency = predict_step(alone_s, num_ranks, num_bytes, alpha, beta)
print(f"predicted for {num_ranks} ranks: {1e3 * predicted_s:.1f} ms, an efficiency of {efficiency:.0%}")

# %% [markdown] role="readonly" id="gap-text"
# Will the measured step be longer or shorter than the predicted one? Write down what you expect, then measure.
# In the first run, the ranks *sleep* for `alone_s` instead of computing, and then send as many bytes as in training. No rank computes, so your prediction should be nearly correct if the machine is not busy. In two more runs, the ranks really train, all at the same time, first *without* averaging and then with it.


# %% role="readonly" id="measure-step" tags=["picture"]
def sleep_and_send(num_steps=12):
    """Return the median seconds of a step in which this rank sleeps and then sends all its gradients as one array."""
    hvd.init()
    gradients = tf.zeros(num_bytes // 4)
    seconds = []
    for _ in range(num_steps):
        begin = time.perf_counter()
        time.sleep(alone_s)
        hvd.allreduce(gradients, name="gradients", op=hvd.Average)
        seconds.append(time.perf_counter() - begin)
    return float(np.median(seconds[3:]))


warn_if_busy()
sleeping_s = max(ranks.run(sleep_and_send, num_ranks=num_ranks))
print(f"{num_ranks} ranks that sleep: {1e3 * sleeping_s:.1f} ms")
together_s = max(seconds for seconds, _ in ranks.run(train, False, num_ranks=num_ranks))
averaging_s = max(seconds for seconds, _ in ranks.run(train, True, num_ranks=num_ranks))
print(f"{num_ranks} ranks: {1e3 * together_s:.1f} ms without averaging, {1e3 * averaging_s:.1f} ms with it")

# %% [markdown] role="readonly" id="gap-exercise"
# Ranks that compute at the same time *share* caches, memory and cores: `together_s` can be longer than `alone_s`, even though no rank sends anything. The time that averaging adds is due to *communication*. Your model predicts this time; the difference between the added time and the prediction is *unexplained*.
# Both sharing and the unexplained part may be negative. The unexplained part is negative if averaging adds less than predicted, for example because computing and sending overlap. Sharing is negative if `together_s` and `alone_s` are nearly equal and `together_s` happens to be the shorter of the two.
#
# **Exercise (3 points).** Write `explain_gap`, which gets the three measurements and the predicted time of the allreduce. It returns the parts of the measured step in seconds: the computation of a single rank, the cost of sharing the machine, the predicted communication, and the unexplained rest. The four parts add up to the measured step.
#
# <details><summary>Hint</summary>
#
# Two parts are arguments, `alone_s` and `predicted_s`: return them unchanged, even if the prediction is larger than the time that averaging added. Sharing is `together_s - alone_s`, and the last part is `averaging_s` minus the other three parts.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Run four ranks: set `num_ranks = 4` at the top. Which part grows most on your machine, and why?
#
# </details>


# %% role="answer" id="explain-gap"
def explain_gap(alone_s, together_s, averaging_s, predicted_s):
    """Return the four parts of a step in seconds: computing, sharing, predicted communication, unexplained rest."""
    # about 1 line
    ### BEGIN SOLUTION
    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
    ### END SOLUTION


# %% role="tests" id="gap-tests" points=3
with check("the gap, explained", section="3"):
    lab07.check_explain_gap(explain_gap, num_cases=5)
    ### BEGIN HIDDEN TESTS
    lab07.check_explain_gap(explain_gap, num_cases=50)
    ### END HIDDEN TESTS

# %% role="readonly" id="gap-picture" tags=["picture"]
parts = explain_gap(alone_s, together_s, averaging_s, allreduce_s(num_ranks, num_bytes, alpha, beta))
pictures.show_gap(predicted_s, parts)

# %% [markdown] role="readonly" id="timeline-text"
# Horovod's *timeline* shows what happened in each step of such a run. A rank computes until its gradients are ready. Then it *waits* until the last rank's gradients are ready, too, and Horovod has noticed this (it checks every millisecond). After that, the gradients are on the *wire*.
# Look at the picture below. Is the wire busy for longer than predicted, for example because the ranks share the cores that they need for sending? Do ranks wait for each other, and if so, in every step or only in some steps? The ranks that others wait for are the *stragglers*: `averaging_s` includes this waiting, but the model does not.


# %% role="readonly" id="timeline-picture" tags=["picture"]
def train_and_write():
    """Train with averaging, and give Horovod time to finish writing its timeline."""
    train(True)
    time.sleep(0.2)  # the thread that writes the timeline stops without checking for new events
    hvd.shutdown()


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "timeline.json"
    ranks.run(train_and_write, num_ranks=num_ranks, environ={"HOROVOD_TIMELINE": str(path)})
    steps = phases_of_steps(path)[3:]  # without the first steps, which include tracing, as above
pictures.show_phases(steps, allreduce_s(num_ranks, num_bytes, alpha, beta))

# %% [markdown] role="quiz" id="gap-quiz"
# The measured step on two ranks is 40 % longer than predicted, and the ranks share two cores. What do you change first to find out why?
#
# - [ ] The model: it needs a third parameter, which you then fit to the measurement.
#   A parameter explains nothing if it is fitted to the very number that it should explain.
# - [x] The measurement: time the same step without averaging, with the same number of ranks running at the same time.
#   This separates the cost of sharing the cores from the cost of communication, and needs no model.
# - [ ] The number of ranks: with four, the effect is larger and easier to see.
#   This mixes up the effects even more, because four ranks would have to share the two cores.

# %% [markdown] role="readonly" id="overlap-text"
# ## 4. Overlap, and many GPUs (14 minutes)
#
# A GPU continues with the backward pass while gradients travel. The last layer's gradient is ready first, at `ready_s[0]`; the next one is ready at `ready_s[1]`, and so on. The link carries one gradient at a time, in this order. A gradient occupies the link for `travel_s[i]`, and cannot start before it is ready.
#
# **Exercise (4 points).** Write `overlapped_s`. It returns the time at which the last gradient has arrived, or the time at which computing ends (`compute_s`), whichever is later.
#
# <details><summary>Hint</summary>
#
# Keep track of when the link becomes free. A gradient leaves at that time or at its `ready_s`, whichever is later; the link is free again after another `travel_s`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# *Fusion*: let all gradients that are ready when the link becomes free travel together, with one latency. For which networks does that help most?
#
# </details>


# %% role="answer" id="overlapped-s"
def overlapped_s(compute_s, ready_s, travel_s):
    """Return the seconds of a step that sends its gradients, in the order of the lists, while it computes."""
    # about 4 lines
    ### BEGIN SOLUTION
    free_s = 0.0
    for ready, travel in zip(ready_s, travel_s):
        free_s = max(free_s, ready) + travel
    return max(free_s, compute_s)
    ### END SOLUTION


# %% role="tests" id="overlap-tests" points=4
with check("a step with overlap", section="4"):
    lab07.check_overlapped_s(overlapped_s, num_tensors=6)
    ### BEGIN HIDDEN TESTS
    lab07.check_overlapped_s(overlapped_s, num_tensors=60)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="simulator-text"
# The course's simulator does the same for the layers of real networks. It takes into account Horovod's cycle and buffers, the links within and between nodes, and the slowest rank. It starts from the published speed of one GPU, and shows a *band* around its prediction. When we compared it with published tables, about nine in ten measurements were within this band (the course's `docs/scaling.md` lists them all). In the next cell, the simulator predicts *strong scaling*: ResNet-50 trains with a fixed global batch on more and more GPUs.
# The simulator assumes that an image takes the same time in a batch of any size, so trust it most near the batch size of the published measurement. The cell leaves out a number of nodes if its batches would not fit into the memory of a GPU, judging by measured memory peaks.
# To run the simulator in a terminal: `coursekit predict 03 --site jean-zay --nodes 2,4,8,16,32,64,128 -p global_batch_size 4096`.


# %% role="readonly" id="simulator" tags=["picture"]
speed = find_speed(find_gpu(gpu), "ResNet50", 0, "float32")
machine = machine_of(find_gpu(gpu), num_gpus_per_node, fabric_gbit_per_s)
training = Training(
    network=find_network("ResNet50"),
    batch_size=speed.batch_size,
    images_per_s=speed.images_per_s,
    noise=0.1,  # how far off the speed may be here, with other software or another batch
    global_batch_size=global_batch_size,
)
most = find_need("ResNet50", 224, speed.precision).largest_batch(gpu_memory_gb)
fitting = [nodes for nodes in (2, 4, 8, 16, 32, 64, 128) if global_batch_size // (nodes * num_gpus_per_node) <= most]
rows = forecast(training, machine, fitting)
print(f"one {gpu}: {speed.images_per_s:.0f} images/s in {speed.precision}, {speed.batch_size} images per step")
print(f"at most {most} images fit into its {gpu_memory_gb} GB")
print(f"published by {speed.source}, {speed.software}\n")
print("nodes  GPUs  images each  images/s  nine times in ten")
for row in rows:
    band = f"{two_digits(row.low)} to {two_digits(row.high)}"
    print(f"{row.num_nodes:5}  {row.num_ranks:4}  {row.local_batch:11}  {two_digits(row.images_per_s):>8}  {band:>17}")
show(*draw_forecast(rows, f"ResNet50, {global_batch_size} images per step, {gpu}"))

# %% [markdown] role="readonly" id="own-layers-text"
# Your own two functions can make the same prediction from the real layers of ResNet-50. In your prediction, each layer's gradient is one message on a ring through all GPUs, and every link is as fast as the link between nodes:


# %% role="readonly" id="own-layers" tags=["picture"]
def step_by_layers(num_gpus, local_batch):
    """Return the seconds of a ResNet-50 step, predicted with allreduce_s and overlapped_s."""
    layers = training.network.layers[::-1]  # the backward pass begins with the last one
    compute_s = local_batch / speed.images_per_s
    done = np.cumsum([layer.gflop for layer in layers]) / sum(layer.gflop for layer in layers)
    ready_s = compute_s / 3 + 2 / 3 * compute_s * done  # the forward pass takes a third
    link_alpha, link_beta = machine.between.latency_s, 1e-9 / machine.between.gbyte_per_s
    travel_s = [allreduce_s(num_gpus, 4 * sum(layer.num_parameters), link_alpha, link_beta) for layer in layers]
    return overlapped_s(compute_s, ready_s, travel_s)


for row in rows:
    own = two_digits(global_batch_size / step_by_layers(row.num_ranks, row.local_batch))
    print(
        f"{row.num_ranks:4} GPUs: {own:>7} images/s by your functions, {two_digits(row.images_per_s):>7} by the simulator"
    )

# %% [markdown] role="readonly" id="limit-text"
# *Expected:* up to 64 GPUs, the two predictions agree to within a tenth. With more GPUs, your prediction falls, because 107 messages, each of 2(N - 1) steps, add up to more latency than computing can hide. The simulator packs all gradients that are ready into one message, as Horovod's fusion does, and as you do in the stretch task above.
#
# **Exercise (2 points).** Write `strong_limit`. It gets a list of GPU counts, each twice the previous one, and the predicted images/s for each count. A doubling pays off if it makes training at least `min_gain` times as fast, for example 1.8.
# Return the number of GPUs up to which every doubling pays off. Stop at the first doubling that does not pay off, whatever comes after it. If even the first doubling does not pay off, return the first number of GPUs.
#
# <details><summary>Hint</summary>
#
# Go through pairs of neighbours, `zip(images_per_s, images_per_s[1:])`, and stop at the first quotient below `min_gain`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# The simulator assumes the same time per image, however small the local batch is. Real GPUs need more time per image if a batch has few images. Is the real limit therefore at fewer GPUs or at more GPUs?
#
# </details>


# %% role="answer" id="strong-limit"
def strong_limit(num_gpus, images_per_s, min_gain):
    """Return the number of GPUs up to which each doubling makes training at least min_gain times as fast."""
    # about 6 lines
    ### BEGIN SOLUTION
    limit = num_gpus[0]
    for larger, before, after in zip(num_gpus[1:], images_per_s, images_per_s[1:]):
        if after < min_gain * before:
            break
        limit = larger
    return limit
    ### END SOLUTION


# %% role="tests" id="limit-tests" points=2
with check("where doubling stops paying", section="4"):
    lab07.check_strong_limit(strong_limit, num_tables=5)
    ### BEGIN HIDDEN TESTS
    lab07.check_strong_limit(strong_limit, num_tables=50)
    ### END HIDDEN TESTS

# %% role="readonly" id="own-limit" tags=["picture"]
num_gpus, images_per_s = [row.num_ranks for row in rows], [row.images_per_s for row in rows]
for gain in (1.95, 1.9, 1.8, 1.6):
    print(f"doubling must make training {gain} times as fast: up to {strong_limit(num_gpus, images_per_s, gain)} GPUs")

# %% [markdown] role="readonly" id="table-text"
# ## 5. Read a published table (5 minutes)
#
# In 2017, someone trained InceptionV3 on Piz Daint, with one P100 per node: once with images that were generated in memory, and once with ImageNet's files (e-bug/distributed-tensorflow-benchmarks):
#
# | nodes | 1 | 2 | 4 | 8 | 16 | 32 |
# | --- | ---: | ---: | ---: | ---: | ---: | ---: |
# | images/s, generated in memory | 138.23 | 264.57 | 523.38 | 1018.18 | 2001.00 | 3840.35 |
# | images/s, from files | 137.03 | 260.84 | 516.71 | 911.84 | 1772.34 | 3425.55 |

# %% [markdown] role="quiz" id="table-quiz"
# According to the table, where was time lost on 8 or more nodes, and what would you try first?
#
# - [ ] In the network between the nodes: try a different allreduce algorithm, or 16-bit gradients.
#   The runs in the first row used the same network between the nodes, and still had an efficiency of 92 % on 8 nodes. They lost little.
# - [x] On the way from the files to the GPUs: stage the files on the nodes, or read fewer and larger files.
#   At 8 nodes, only the second row drops, by a tenth, and the rows differ only in where the images come from.
# - [ ] On the GPUs: give each of them a larger batch.
#   A single GPU has about the same speed in both rows, and its batch size does not change with the number of nodes.

# %% [markdown] role="readonly" id="book-text"
# ## 6. Book (18 minutes)
#
# You train for `num_epochs` epochs of `num_images` images, and training has to finish within `max_hours`. A time limit needs a margin: if a run takes 10 h and the margin is 1.2, request 12 h.
#
# **Exercise (2 points).** Write `request`. It takes a list of node counts, in ascending order, and the images/s for each.
# For each number of nodes, compute the hours to request: include the margin, and round up to whole hours. Return the smallest number of nodes for which these hours are at most `max_hours`, together with the hours.
# If no number of nodes suffices, return `None`.
#
# <details><summary>Hint</summary>
#
# The hours are `num_epochs * num_images / images_per_s / 3600`, with the images/s of all nodes together. Multiply them by the margin, and round up with `int(np.ceil(…))`. You request these rounded hours from Slurm, so compare them with the limit.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# How many GPU hours does your choice cost, and how many would the job cost on the next larger number of nodes? `coursekit sites show jean-zay` shows what the centre charges.
#
# </details>


# %% role="answer" id="request"
def request(nums_nodes, images_per_s, num_images, num_epochs, max_hours, margin):
    """Return the number of nodes and the whole hours to request, or None if no number of nodes suffices."""
    # about 6 lines
    ### BEGIN SOLUTION
    for num_nodes, speed in zip(nums_nodes, images_per_s):
        needed = num_epochs * num_images / speed / 3600
        hours = int(np.ceil(margin * needed))
        if hours <= max_hours:
            return num_nodes, hours
    return None
    ### END SOLUTION


# %% role="tests" id="request-tests" points=2
with check("nodes and hours", section="6"):
    lab07.check_request(request, num_cases=6)
    ### BEGIN HIDDEN TESTS
    lab07.check_request(request, num_cases=60)
    ### END HIDDEN TESTS

# %% role="readonly" id="own-request" tags=["picture"]
limit = strong_limit(num_gpus, images_per_s, 1.8)
print(f"up to {limit} GPUs, each doubling makes training at least 1.8 times as fast; we ask for no more")
paying = [row for row in rows if row.num_ranks <= limit]
lowest = {row.num_nodes: row.low for row in rows}
for max_hours in (24, 8, 4):
    asked = request([row.num_nodes for row in paying], [row.low for row in paying], 1_281_167, 90, max_hours, 1.2)
    print(f"90 epochs of ImageNet within {max_hours} h, if the speed is at the lower end of the band: {asked}")
    for num_nodes in (asked[0] // 2, asked[0], 2 * asked[0]) if asked else ():
        if num_nodes in lowest:
            hours = request([num_nodes], [lowest[num_nodes]], 1_281_167, 90, 1000, 1.2)[1]
            print(f"    {num_nodes} nodes for {hours} h: {num_nodes * num_gpus_per_node * hours} GPU hours")

# %% [markdown] role="readonly" id="reasons-text"
# **Exercise (2 points, read by your instructor).** You need 90 epochs of ImageNet within 8 hours. Write the request to a computing centre in five to eight sentences. It should state:
#
# - the machine, and the number of nodes, hours and GPU hours;
# - which speed you assume, where it comes from, and how far you can trust it;
# - why you do not ask for half as many nodes, or for twice as many;
# - which run you would do first to test your assumptions, and what it costs.
#
# You get one point for consistent numbers, with units and the source of the speed. You get the other point for your reasons: the band, why neither half nor twice as many nodes would be better, and a small run that could prove you wrong.
#
# <details><summary>Hint</summary>
#
# The table in section 4 shows the speeds, their source and the band. Your `request` returns nodes and hours, and GPU hours are nodes times GPUs per node times hours. The time limit must suffice even at the lower end of the band.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Give your request to a neighbour, who plays the computing centre and may ask three questions. Which of your numbers could you not defend?
#
# </details>

# %% [markdown] role="manual" id="reasons" points=2
# We request 8 nodes of Jean Zay, each with four V100 GPUs, for 5 hours: at most 160 GPU hours.
# The published speed of ResNet-50 in float32 on one V100 is 362 images/s (DLPerf, batch 128, TensorFlow 1.15); for 32 GPUs with 4096 images per step, the course's simulator predicts about 11 000 images/s, and nine times in ten a speed between 8 600 and 14 000.
# At the lower end, 90 epochs take 3.7 hours. We add a margin of 1.2, because real input can be slower than synthetic images, and round up to 5 hours.
# With the margin, four nodes would need nine hours, which is more than we have, and would save hardly any GPU hours. Sixteen nodes would finish in two to three hours, but we would wait longer for them.
# Each GPU would then have only 64 images, half the batch size of the published speed.
# First we train one epoch on one node with four GPUs, which takes 15 minutes and one GPU hour: if the speed stays below 1 300 images/s, or the loss does not fall, we do not book.

# %% [markdown] role="readonly" id="end"
# ## What you can now do
#
# - predict a step from three numbers that you can measure in a minute;
# - explain a gap with further measurements before you change the model;
# - find where strong scaling stops paying off, and state the rule that you used;
# - read from a published table what limits the speed;
# - justify a request for machine time, allow a margin, and propose a run that could prove you wrong.
#
# **Further reading**
#
# - [Paleo: a performance model for deep neural networks](https://openreview.net/forum?id=SyVVJ85lg): a model made of the arithmetic of layers, α and β, and how well it predicts.
# - [Scientific benchmarking of parallel computing systems](https://doi.org/10.1145/2807591.2807644): twelve rules for reporting results that others can trust.
# - [Accurate, large minibatch SGD](https://arxiv.org/abs/1706.02677): ResNet-50 on 256 GPUs, and what else is needed besides speed.
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

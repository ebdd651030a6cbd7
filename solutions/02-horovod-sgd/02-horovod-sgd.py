# %% [markdown] role="readonly" id="intro"
# # Lab 02: SGD on several ranks with Horovod
#
# **95 minutes, 20 points, two or more ranks.**
# You fit the line of lab 01 again, but now in several processes at once. This is called *synchronous data-parallel* training.
# Each process, called a *rank*, holds a copy of the model and a share of the data. After every step, all copies are equal again.
#
# After this lab you can
#
# - run a function on several ranks, and tell rank, world size and local rank apart;
# - turn a single-process training loop into one for N ranks, step by step, and explain why each step is needed;
# - scale the learning rate with the number of ranks, and say where this stops working;
# - train the same model with Horovod's gradient tape and with `tf.keras`.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer on real ranks and reports what is missing; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.
# In sections 2 to 7 you write the pieces, and in section 8 you put them together. Section 9 does the same with Keras, and section 10 measures whether several ranks are faster than one.

# %% [markdown] role="readonly" id="parameters-text"
# These are the settings of this run. On a laptop, the two ranks are two processes that share its cores.
# On a supercomputer, Slurm gives a job an *allocation*: some of the machine's computers, called *nodes*, for a limited time.
# There, the ranks are the tasks of a *job step*, that is, the processes that one `srun` command starts on these nodes.
# When you have finished the lab, try `num_ranks = 4`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
num_samples = 1200
num_epochs = 100
learning_rate = 0.2
seed = 1

# %% role="readonly" id="imports"
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages

from coursekit import ranks

ranks.warm_up()  # starts importing TensorFlow and Horovod for the ranks while this process does the same

from pathlib import Path

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf

from coursekit import pictures
from coursekit.checks import check, hand_in_report, lab02_pieces, lab02_properties, lab02_trial

# The GPUs are for the ranks: in this process, TensorFlow would take all the memory of a GPU.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="ranks-text"
# ## 1. What is a rank? (9 minutes)
#
# `ranks.run(function, ...)` starts `num_ranks` fresh processes, calls the function in each of them, and returns a list of their results in rank order.
# The ranks' output appears below the cell, and each line is marked with the rank that printed it. Nothing survives from one run to the next.


# %% role="readonly" id="hello" tags=["picture"]
def hello():
    print(f"hello from process {os.getpid()}")
    return os.getpid()


print("the ranks returned", ranks.run(hello, num_ranks=num_ranks))

# %% [markdown] role="readonly" id="magic-text"
# For quick experiments, there is also a cell magic: it runs the whole cell on every rank and prints the value of the last line.

# %% role="readonly" id="load-magic"
# %load_ext coursekit.ranks

# %% role="readonly" id="magic" tags=["picture"]
# %%ranks 4
import os

pid = os.getpid()
f"I am process {pid}"

# %% [markdown] role="readonly" id="facts-text"
# So far, these processes know nothing about each other. `hvd.init()` connects them. After that,
#
# - `hvd.rank()` is the number of this process in the whole group, counting from 0;
# - `hvd.size()` is the *world size*, the number of processes in the group;
# - `hvd.local_rank()` is the number of this process *on its node*, also counting from 0.
#
# **Exercise (1 point).** Write `rank_facts`: initialise Horovod, leave it initialised, and return a dictionary with the keys `"rank"`, `"size"` and `"local_rank"`.
#
# <details><summary>Hint</summary>
#
# Call the functions in the list above. Before `hvd.init()`, they raise an error.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add `hvd.local_size()`, and start three ranks with `ranks_per_node=2`. Which rank has a node to itself?
#
# </details>


# %% role="answer" id="rank-facts"
def rank_facts():
    """Initialise Horovod and return a dictionary with rank, size and local_rank of this process."""
    # about 2 lines
    ### BEGIN SOLUTION
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
    ### END SOLUTION


# %% role="tests" id="rank-facts-tests" points=1
with check("rank facts", section="1"):
    lab02_pieces.check_rank_facts(rank_facts, num_ranks=5, ranks_per_node=3)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_rank_facts(rank_facts, num_ranks=2, ranks_per_node=1)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="nodes-text"
# If there are two nodes, a process's rank and its local rank can differ. The argument `ranks_per_node` makes four ranks on this machine behave as if they were on two nodes:

# %% role="readonly" id="nodes" tags=["picture"]
for facts in ranks.run(rank_facts, num_ranks=4, ranks_per_node=2):
    print(facts)

# %% [markdown] role="readonly" id="staying-text"
# `ranks.run` forgets everything when it ends. This suits exercises, because an answer has to work in fresh processes.
# To try things out, use *persistent ranks*. Until you run `%ranks stop`, they keep their variables, so a `%%ranks` cell can use what earlier cells have defined on the same rank.

# %% role="readonly" id="staying-start" tags=["picture"]
# %ranks start -n {num_ranks}

# %% role="readonly" id="staying-first" tags=["picture"]
# %%ranks
import horovod.tensorflow as hvd

hvd.init()
mine = 10 * hvd.rank()

# %% role="readonly" id="staying-second" tags=["picture"]
# %%ranks
f"rank {hvd.rank()} of {hvd.size()} still has mine = {mine}"

# %% role="readonly" id="staying-stop" tags=["picture"]
# %ranks stop

# %% [markdown] role="readonly" id="pin-text"
# ## 2. One GPU per rank (7 minutes)
#
# By default, each rank on a node with four GPUs takes memory on all four. Instead, each rank must *pin* the GPU whose index is its local rank, and must not see the others.
#
# **Exercise (1 point).** Write `pin_gpu`. Horovod is already initialised. On a machine without a GPU, the same code must do nothing.
# Choose the GPU with a TensorFlow function: once TensorFlow has listed the GPUs, it is too late to change `CUDA_VISIBLE_DEVICES`.
#
# <details><summary>Hint</summary>
#
# `tf.config.list_physical_devices("GPU")` lists the GPUs, and `tf.config.set_visible_devices(gpu, "GPU")` makes only that GPU visible.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In a copy of the function, raise an error if a node has more ranks than GPUs. The error message should be one clear sentence. What does the user need to know?
#
# </details>


# %% role="answer" id="pin-gpu"
def pin_gpu():
    """Make only the GPU whose index is the local rank visible; if there are no GPUs, do nothing."""
    # about 3 lines
    ### BEGIN SOLUTION
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    ### END SOLUTION


# %% role="tests" id="pin-gpu-tests" points=1
with check("GPU pinning", section="2"):
    lab02_pieces.check_pin_gpu(pin_gpu, ranks_per_node=3, num_ranks=5)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_pin_gpu(pin_gpu, ranks_per_node=2, num_ranks=2)
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="pin-quiz"
# Someone pins the GPU whose index is `hvd.rank()`. On one node with four GPUs, this works. What happens with eight ranks on two such nodes?
#
# - [x] Ranks 4 to 7 fail with an error.
#   Their node has only GPUs 0 to 3, so the indices 4 to 7 do not exist. The local rank starts at 0 on every node.
# - [ ] Ranks 4 to 7 share the GPUs of the first node, so training is slower.
#   A process sees only the GPUs of its own node; no index can reach a GPU of another node.
# - [ ] Nothing goes wrong: Horovod knows which node each rank is on.
#   Horovod does know this and reports it as local_rank, but it does not pin any GPU: your program has to choose the GPU that TensorFlow uses.

# %% [markdown] role="readonly" id="loop-text"
# ## The training loop (6 minutes)
#
# These are the data of lab 01, with a fixed seed, so that all ranks have the same data set:


# %% role="readonly" id="data"
def make_data(num_samples, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.5, 0.5, num_samples).astype(np.float32)
    return x, 2.0 * x + rng.uniform(-0.5, 0.5, num_samples).astype(np.float32)


x, y = make_data(num_samples, seed)
# With this batch size on each rank, one step of all ranks uses the whole data set; -(-a // b) is a / b, rounded up.
batch_size = -(-num_samples // num_ranks)

# %% [markdown] role="readonly" id="train-text"
# This is the gradient-tape loop of lab 01 with four gaps. Each gap is an argument, and the loop skips every gap whose argument is `None`. If it skips all four, every rank trains alone.
# Read the loop once; you will fill the gaps one by one.
#
# Each rank draws its own random starting point. Because `seed` is fixed, a rank starts at the same point in every run, so you can compare the pictures before and after a change.


# %% role="readonly" id="train" tags=["picture"]
def train(shard=None, broadcast_start=None, average=None, scale_rate=None, num_epochs=num_epochs):
    """Train on this rank; return slope and offset before the first and after every step, shape (num_steps + 1, 2)."""
    hvd.init()
    if tf.config.list_physical_devices("GPU"):
        pin_gpu()
    shard_x, shard_y = shard(x, y) if shard else (x, y)
    variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]  # every rank draws its own starting point
    if broadcast_start:
        broadcast_start(variables)
    rate = scale_rate(learning_rate) if scale_rate else learning_rate
    history = [[float(variable.numpy()) for variable in variables]]
    for _ in range(num_epochs):
        for first in range(0, len(shard_x), batch_size):
            batch_x, batch_y = shard_x[first : first + batch_size], shard_y[first : first + batch_size]
            with tf.GradientTape() as tape:
                slope, offset = variables
                loss = tf.reduce_mean((slope * batch_x + offset - batch_y) ** 2)
            gradients = tape.gradient(loss, variables)
            if average:
                gradients = average(gradients)
            for variable, gradient in zip(variables, gradients):
                variable.assign_sub(rate * gradient)
            history.append([float(variable.numpy()) for variable in variables])
    return np.array(history)


alone = ranks.run(train, num_ranks=num_ranks, seed=seed)
figure, (left, right) = pictures.panels(2)
pictures.draw_trajectories(left, pictures.by_rank(alone), x, y, "Every rank alone")
pictures.draw_losses(right, pictures.by_rank(alone), x, y)
pictures.show(figure, f"{num_ranks} ranks start at different points and walk down different paths.")
distance = pictures.distance_between_ranks(alone)[-1]
print(f"{len(alone[0]) - 1} steps on every rank, distance between ranks at the end: {distance:.2g}")

# %% [markdown] role="readonly" id="shard-text"
# Each rank starts at a different point and does all the work. You get the same result several times, at several times the cost.
#
# ## 3. Shard the data (8 minutes)
#
# Each rank should train on its own share, its *shard*. The shards must be *disjoint* (no sample twice), *complete* (no sample left out) and as equal in size as possible,
# because all ranks wait for the slowest.
#
# **Exercise (3 points).** Write `shard`, which returns this rank's part of `x` and `y` and leaves both arrays unchanged. It must work for any number of ranks and samples.
#
# <details><summary>Hint</summary>
#
# A slice can have a step. Where must the slice begin on each rank, and how large must the step be, so that no two ranks get the same sample?
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Split the samples into contiguous blocks instead, with `np.array_split`. If the samples were sorted by `x`, which of them would each rank train on?
#
# </details>


# %% role="answer" id="shard"
def shard(x, y):
    """Return this rank's share of the samples."""
    # about 2 lines
    ### BEGIN SOLUTION
    mine = slice(hvd.rank(), None, hvd.size())
    return x[mine], y[mine]
    ### END SOLUTION


# %% role="tests" id="shard-tests" points=3
with check("shards", section="3"):
    lab02_pieces.check_shard(shard, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_shard(shard, num_ranks=3)
    ### END HIDDEN TESTS


# %% role="readonly" id="shard-picture" tags=["picture"]
def sample_numbers():
    hvd.init()
    return shard(np.arange(24), np.arange(24))[0]


pictures.show_shards(ranks.run(sample_numbers, num_ranks=num_ranks), num_samples=24)

sharded = ranks.run(train, shard, num_ranks=num_ranks, seed=seed)
pictures.before_and_after(alone, sharded, x, y, "shards")
print(f"steps on every rank: before {len(alone[0]) - 1}, after {len(sharded[0]) - 1}")

# %% [markdown] role="readonly" id="broadcast-text"
# Now each rank takes fewer steps, because it uses only its share. But the ranks train *different models*, from different starting points and on different data.
#
# ## 4. Broadcast the start (7 minutes)
#
# All copies of the model must be equal at the start, so one rank sends its variables to all others. This *broadcast* is one of the *collectives*: operations that finish only if every rank takes part.
#
# **Exercise (1 point).** Write `broadcast_start`, which overwrites the variables on all ranks, in place, with the values of one rank. By convention, this is rank 0, as in the hint,
# but any other rank works as well, provided that all ranks name the same one.
#
# <details><summary>Hint</summary>
#
# Call `hvd.broadcast_variables(variables, root_rank=0)` on *every* rank, including rank 0.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Do the same without a broadcast: one allreduce with `op=hvd.Sum` is enough. What does each rank contribute?
#
# </details>


# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    """Overwrite the variables on every rank, in place, with the values on rank 0."""
    # about 1 line
    ### BEGIN SOLUTION
    hvd.broadcast_variables(variables, root_rank=0)
    ### END SOLUTION


# %% role="tests" id="broadcast-start-tests" points=1
with check("broadcast", section="4"):
    lab02_pieces.check_broadcast(broadcast_start, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_broadcast(broadcast_start, num_ranks=3)
    ### END HIDDEN TESTS

# %% role="readonly" id="broadcast-picture" tags=["picture"]
together = ranks.run(train, shard, broadcast_start, num_ranks=num_ranks, seed=seed)
pictures.before_and_after(sharded, together, x, y, "broadcast")

# %% [markdown] role="readonly" id="average-text"
# The ranks start together and drift apart, because each rank walks down the loss of its own shard. The right panel shows the distance between the ranks, which is too small to see in the trajectories or in the final loss. With a neural network, you would end up with a different network on each rank.
#
# ## 5. Average the gradients (10 minutes)
#
# If the shards have equal sizes, the mean of their gradients is the gradient over all the data. So before every update, replace each gradient with its mean over all ranks.
# The collective that does this is called *allreduce*.
#
# **Exercise (2 points).** Write `average`. It takes the list of this rank's gradients and returns the list of their means over all ranks, computed with `hvd.allreduce`.
# A gradient may consist of 32-bit or of 64-bit numbers, and its mean must have the same precision.
#
# <details><summary>Hint</summary>
#
# `hvd.allreduce(tensor, op=hvd.Average)` returns the mean of one tensor over the ranks. Call it for each gradient, in the same order on every rank.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Send all gradients as *one* message: flatten and concatenate them, call allreduce once, and split the result back into gradients.
# Horovod does this automatically and calls it tensor fusion.
#
# </details>


# %% role="answer" id="average"
def average(gradients):
    """Return the mean of each gradient over all ranks, in the same order."""
    # about 1 line
    ### BEGIN SOLUTION
    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
    ### END SOLUTION


# %% role="tests" id="average-tests" points=2
with check("averaged gradients", section="5"):
    lab02_pieces.check_average(average, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_average(average, num_ranks=3)
    ### END HIDDEN TESTS

# %% role="readonly" id="average-picture" tags=["picture"]
averaged = ranks.run(train, shard, broadcast_start, average, num_ranks=num_ranks, seed=seed)
pictures.before_and_after(together, averaged, x, y, "averaged gradients")

# %% [markdown] role="readonly" id="scale-text"
# All ranks now follow the same path: this is *one* training run in several processes. *Expected:* after the change, the distance between the ranks is exactly 0.
#
# What happens if one rank does not take part in a collective? It is worth seeing this once. In the next cell, only rank 0 calls the broadcast, while the other rank has already moved on to the allreduce.
# Now each rank waits for the other, and neither can continue. Within seconds, `ranks.run` notices this, stops both ranks and shows where each one was waiting.
# (A rank that is only computing or sleeping may still reach the collective, so `ranks.run` waits for such a rank until the deadline `timeout_s`.)


# %% role="readonly" id="deadlock" tags=["picture"]
def deadlock():
    hvd.init()
    variables = [tf.Variable(0.0)]
    if hvd.rank() == 0:
        hvd.broadcast_variables(variables, root_rank=0)
    hvd.allreduce(variables[0])


try:
    ranks.run(deadlock, num_ranks=2)
except ranks.RankTimeoutError as error:
    print(error)

# %% [markdown] role="readonly" id="rate-text"
# ## 6. Scale the learning rate, and find the limit (15 minutes)
#
# With N ranks, a step uses N times as many samples, so an epoch has only one N-th as many steps. To get as far in one epoch as a single rank does, each step has to be N times as long.
# Therefore, *linear scaling* multiplies the learning rate by the world size ([Goyal et al. 2017](https://arxiv.org/abs/1706.02677)).
#
# **Exercise (1 point).** Write `scale_rate`, which returns the scaled rate. It must work for any number of ranks: on two nodes with four ranks each, it must count all eight.
#
# <details><summary>Hint</summary>
#
# Which of rank, local rank, local size and size counts all ranks of the group?
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Pass your own rule to `train` as `scale_rate`, for example one that multiplies the rate by the square root of the number of ranks. Does the loss fall faster with your rule or with linear scaling? Which of the two allows more ranks before the rate reaches the limit in the next exercise?
#
# </details>


# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    """Return the learning rate for the whole group: the rate of one rank, scaled linearly."""
    # about 1 line
    ### BEGIN SOLUTION
    return learning_rate * hvd.size()
    ### END SOLUTION


# %% role="tests" id="scale-rate-tests" points=1
with check("learning rate", section="6"):
    lab02_pieces.check_scale_rate(scale_rate, num_ranks=4, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_scale_rate(scale_rate, num_ranks=3, ranks_per_node=2)
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="sum-quiz"
# Each rank has the gradient of its *mean* loss. Someone writes `op=hvd.Sum` instead of `op=hvd.Average`, and does not scale the rate. How does SGD then behave on four ranks?
#
# - [ ] The same as before: the sum over all ranks is the gradient of the whole batch.
#   This would be true if each rank divided the sum of its losses by the global batch size. Here the sum of four means is four times the mean over all samples.
# - [ ] The ranks drift apart.
#   All ranks get the same sum, so their weights stay equal. But equal weights need not be right.
# - [x] It trains as if the learning rate were four times as large.
#   The sum of four means is four times their mean: the direction is the same, and the steps are four times as long. If you scale the rate as well, the steps are sixteen times as long.

# %% role="readonly" id="scale-picture" tags=["picture"]
scaled = ranks.run(train, shard, broadcast_start, average, scale_rate, num_ranks=num_ranks, seed=seed)
paths = {f"rate {learning_rate:g}": averaged[0], f"scaled, {learning_rate * num_ranks:g}": scaled[0]}
figure, (left, right) = pictures.panels(2)
pictures.draw_trajectories(left, paths, x, y, "Rank 0 without and with scaling")
pictures.draw_losses(right, paths, x, y)
pictures.show(figure, "With the scaled rate, rank 0 follows the same path in larger steps, and the loss falls faster.")

# %% [markdown] role="readonly" id="limit-text"
# But in lab 01 you found a limit: gradient descent on all samples diverges if the rate exceeds $2 / \lambda_{\max}$.
# Here $\lambda_{\max}$ is the largest eigenvalue of the Hessian $H = 2 \begin{pmatrix} \overline{x^2} & \overline{x} \\ \overline{x} & 1 \end{pmatrix}$. For our data, it is about 2.0, so the limit is about 1.0. Each additional rank brings the scaled rate closer to the limit.
#
# **Exercise (1 point).** Write `max_num_ranks`. It returns the largest number of ranks for which the scaled rate is still below the limit, or 0 if the rate of one rank is already above the limit.
#
# <details><summary>Hint</summary>
#
# With N ranks, linear scaling multiplies the rate by N. `np.linalg.eigvalsh` returns the eigenvalues of a symmetric matrix; `int(...)` rounds down.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Which rate would allow 16 ranks, and how many steps would a single rank need at that rate? What would you have gained?
#
# </details>


# %% role="answer" id="max-num-ranks"
def max_num_ranks(x, learning_rate):
    """Return the largest number of ranks for which linear scaling stays below the stability limit."""
    # about 3 lines
    ### BEGIN SOLUTION
    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
    limit = 2 / np.max(np.linalg.eigvalsh(hessian))
    return int(limit / learning_rate)
    ### END SOLUTION


# %% role="tests" id="max-num-ranks-tests" points=1
with check("limit of scaling", section="6"):
    lab02_pieces.check_max_num_ranks(max_num_ranks)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_max_num_ranks(max_num_ranks, seed=20190314)
    ### END HIDDEN TESTS

# %% role="readonly" id="limit-picture" tags=["picture"]
counts = [1, 2, max_num_ranks(x, learning_rate), max_num_ranks(x, learning_rate) + 2]
batch_sizes = {count: -(-num_samples // count) for count in counts}


def train_with(batch_sizes):
    global batch_size
    hvd.init()
    batch_size = batch_sizes[hvd.size()]
    return train(shard, broadcast_start, average, scale_rate, num_epochs=30)


runs = {}
for count in counts:
    history = ranks.run(train_with, batch_sizes, num_ranks=count, seed=seed)[0]
    runs[f"{count} rank{'s' * (count > 1)}, rate {learning_rate * count:.2g}"] = np.clip(history, -1e6, 1e6)
figure, (left, right) = pictures.panels(2, height_inch=4)
pictures.draw_trajectories(left, runs, x, y, "Scaled with the number of ranks")
pictures.draw_losses(right, runs, x, y)
pictures.show(figure, f"Training is stable up to {counts[2]} ranks and diverges with {counts[3]}.")
for name, history in runs.items():
    print(f"{name}: distance from the best parameters at the end {np.hypot(*(history[-1] - pictures.OPTIMUM)):.3g}")

# %% [markdown] role="readonly" id="files-text"
# *Expected:* with up to four ranks, training converges, and it converges faster with each additional rank. With six ranks, at a rate of 1.2, the loss grows without bound.
# Real networks hit the same kind of limit, but only with many more ranks. A gradual warm-up of the rate (lab 03) helps in the first steps, but does not raise the limit.
#
# ## 7. One rank writes (5 minutes)
#
# Every rank runs the same program, so all ranks would write the same file at the same time.
#
# **Exercise (1 point).** Write `save_history`. On rank 0, it saves the array `history` as `history.npy` in `folder` (a `Path`) and overwrites any older file. On the other ranks, it does nothing.
#
# <details><summary>Hint</summary>
#
# `np.save(path, array)` writes the file; `folder / "history.npy"` joins a folder and a file name; an `if` on `hvd.rank()` decides which rank writes.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# First write the file under another name in the same folder, and rename it at the end. What does another program see if it reads the file while rank 0 is writing?
#
# </details>


# %% role="answer" id="save-history"
def save_history(history, folder):
    """Save the history as folder / "history.npy", on rank 0 only."""
    # about 2 lines
    ### BEGIN SOLUTION
    if hvd.rank() == 0:
        np.save(folder / "history.npy", history)
    ### END SOLUTION


# %% role="tests" id="save-history-tests" points=1
with check("files", section="7"):
    lab02_pieces.check_save_history(save_history, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_save_history(save_history, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="horovod-text"
# ## 8. All together, the Horovod way (14 minutes)
#
# Real programs do not average by hand: `hvd.DistributedGradientTape(tape)` wraps a tape so that `tape.gradient` returns averaged gradients.
#
# **Exercise (5 points).** Write the whole training function. It receives all the data and the learning rate *of one rank*; `batch_size` is the batch size on *each* rank.
#
# 1. Initialise Horovod. 2. Take this rank's shard. 3. Start from standard normal random numbers, and broadcast them before the first step. 4. Scale the rate.
# 5. In every epoch, go through the whole shard in batches; the last batch may be smaller. For each batch, take one plain SGD step
# with averaged gradients of the mean squared error. Compute in 32 bits throughout, and add nothing else to the step. 6. Return the history, an array of shape `(num_steps + 1, 2)`, as `train` does.
#
# You may call the pieces that you wrote above. The five checks below look only at the trajectories, so you may write the code in any way you like.
#
# <details><summary>Hint</summary>
#
# Start from the code of `train` in the section "The training loop" and fill each gap with your piece. Wrap the tape just before `tape.gradient`.
#
# </details>
#
# <details><summary>Two traps</summary>
#
# `hvd.DistributedOptimizer` averages inside Keras's `model.fit`. In your own loop, `optimizer.apply_gradients` averages *nothing* and does not warn you. Here you have to wrap the tape.
#
# All ranks must take the same number of steps. With shards of 10 and 9 samples and batches of 3, one rank would take four steps and the other three.
# The fourth allreduce would never finish, because the other rank would never join it. The checks do not use such sizes.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Stop training as soon as the loss is below 0.1. First let each rank decide from its own loss, then let all ranks decide from the mean loss over the ranks. Why does one of the two versions hang?
#
# </details>


# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    """Train on all ranks together; return this rank's history, shape (num_steps + 1, 2)."""
    # about 18 lines
    ### BEGIN SOLUTION
    hvd.init()
    pin_gpu()
    x, y = shard(x, y)
    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    broadcast_start(variables)
    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
    history = [[float(slope.numpy()), float(offset.numpy())]]
    for _ in range(num_epochs):
        for first in range(0, len(x), batch_size):
            batch = slice(first, first + batch_size)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
            tape = hvd.DistributedGradientTape(tape)
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([float(slope.numpy()), float(offset.numpy())])
    return np.array(history)
    ### END SOLUTION


# %% [markdown] role="readonly" id="horovod-checks-text"
# All five checks share a single launch of three ranks: two on one node and one on another. The ranks train several times on synthetic data,
# and the checks infer the properties from the trajectories. The last check compares every step, up to rounding, with the same step computed in NumPy.

# %% role="readonly" id="horovod-trial"
horovod_trial = lab02_trial.try_training(train_horovod, num_ranks=3, ranks_per_node=2)
print(horovod_trial.error or "The training ran on three ranks; now run the checks.")

# %% role="tests" id="horovod-start-tests" points=1
with check("same start (train_horovod)", section="4"):
    lab02_properties.check_same_start(horovod_trial, most_steps=0)
    lab02_properties.check_random_start(horovod_trial)
    ### BEGIN HIDDEN TESTS
    lab02_properties.check_same_start(horovod_trial.on(4), most_steps=0)
    ### END HIDDEN TESTS

# %% role="tests" id="horovod-average-tests" points=1
with check("averaged gradients (train_horovod)", section="5"):
    lab02_properties.check_averaged(horovod_trial)
    ### BEGIN HIDDEN TESTS
    lab02_properties.check_averaged(horovod_trial.on(4))
    ### END HIDDEN TESTS

# %% role="tests" id="horovod-shards-tests" points=1
with check("shards (train_horovod)", section="3"):
    lab02_properties.check_shards(horovod_trial)
    ### BEGIN HIDDEN TESTS
    lab02_properties.check_shards(horovod_trial.on(4))
    ### END HIDDEN TESTS

# %% role="tests" id="horovod-rate-tests" points=1
with check("learning rate (train_horovod)", section="6"):
    lab02_properties.check_rate(horovod_trial)
    ### BEGIN HIDDEN TESTS
    lab02_properties.check_rate(horovod_trial.on(4))
    ### END HIDDEN TESTS

# %% role="tests" id="horovod-serial-tests" points=1
with check("equal to one process (train_horovod)", section="8"):
    lab02_properties.check_equals_serial(horovod_trial)
    ### BEGIN HIDDEN TESTS
    lab02_properties.check_equals_serial(horovod_trial.on(4))
    ### END HIDDEN TESTS

# %% role="readonly" id="horovod-picture" tags=["picture"]
histories = ranks.run(train_horovod, x, y, 10, batch_size // 10, learning_rate, num_ranks=num_ranks)
figure, (left, right) = pictures.panels(2)
pictures.draw_trajectories(left, pictures.by_rank(histories), x, y, "train_horovod, small batches")
pictures.draw_losses(right, pictures.by_rank(histories), x, y)
pictures.show(figure, f"The trajectories of {num_ranks} ranks coincide, and show the noise of small batches.")

# %% [markdown] role="readonly" id="keras-text"
# ## 9. The same with tf.keras (10 minutes)
#
# With Keras, `model.fit` is the training loop. For Horovod, you need five things:
#
# - the call `hvd_keras.init()`, as before;
# - this rank's shard as the training data;
# - the learning rate, scaled with the number of ranks;
# - the *optimiser*, wrapped in `hvd_keras.DistributedOptimizer(optimizer)`, which averages the gradients;
# - the *callback* `hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)`, which broadcasts after the first batch, when all variables exist.
#
# The callback below records the trajectory. In the list of callbacks, put it *after* the broadcast callback.


# %% role="readonly" id="trajectory"
class Trajectory(tf.keras.callbacks.Callback):
    """Record slope and offset of a model with one Dense(1) layer, at the start and after every batch."""

    def __init__(self):
        super().__init__()
        self.history = []

    def record(self):
        self.history.append([float(weight.numpy().ravel()[0]) for weight in self.model.trainable_weights])

    def on_train_begin(self, logs=None):
        self.record()

    def on_train_batch_end(self, batch, logs=None):
        self.record()


# %% [markdown] role="readonly" id="keras-exercise-text"
# **Exercise (4 points).** Write `train_keras` with the same arguments and result as `train_horovod`. Use a `tf.keras.Sequential` model with one
# `Dense(1)` layer on inputs of shape `(1,)`, the optimiser `SGD` with no argument except the rate, and the loss `"mse"`. With `verbose=0`, no rank draws a progress bar. Return `np.array(trajectory.history)`.
#
# <details><summary>Hint</summary>
#
# Write these parts in this order: init, shard, model, wrapped optimiser, `model.compile`, list of callbacks, `model.fit`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# On each rank, print the loss from the history that `fit` returns. Then add `hvd_keras.callbacks.MetricAverageCallback()`. What changes, and what does not?
#
# </details>


# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    """Train with model.fit on all ranks together; return this rank's history, shape (num_steps + 1, 2)."""
    # about 9 lines
    ### BEGIN SOLUTION
    hvd_keras.init()
    pin_gpu()
    x, y = shard(x, y)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
    return np.array(trajectory.history)
    ### END SOLUTION


# %% role="readonly" id="keras-trial"
keras_trial = lab02_trial.try_training(
    train_keras, num_ranks=3, ranks_per_node=2, timeout_s=30, num_long=32, num_starts=0
)
print(keras_trial.error or "The training ran on three ranks; now run the checks.")

# %% role="tests" id="keras-start-tests" points=1
with check("same start (train_keras)", section="4"):
    lab02_properties.check_same_start(keras_trial, most_steps=1)

# %% role="tests" id="keras-average-tests" points=1
with check("averaged gradients (train_keras)", section="5"):
    lab02_properties.check_averaged(keras_trial)

# %% role="tests" id="keras-shards-tests" points=1
with check("shards (train_keras)", section="3"):
    lab02_properties.check_shards(keras_trial)
    lab02_properties.check_epochs(keras_trial)

# %% role="tests" id="keras-rate-tests" points=1
with check("learning rate (train_keras)", section="6"):
    lab02_properties.check_rate(keras_trial)
    lab02_properties.check_plain(keras_trial)

# %% role="readonly" id="keras-picture" tags=["picture"]
histories = ranks.run(train_keras, x, y, 10, batch_size // 10, learning_rate, num_ranks=num_ranks)
figure, (left, right) = pictures.panels(2)
pictures.draw_trajectories(left, pictures.by_rank(histories), x, y, "train_keras")
pictures.draw_losses(right, pictures.by_rank(histories), x, y)
pictures.show(figure, f"{num_ranks} trajectories jump to one point after the first batch and coincide from then on.")

# %% [markdown] role="readonly" id="speed-text"
# In the first step, the trajectories of the Keras version still differ, because the callback broadcasts only after the first batch. From then on, all ranks agree.
#
# ## 10. Is it faster? (4 minutes)
#
# You use several ranks because you want more speed. The cell below measures one step on 1, 2 and 4 ranks, which share either 1200 samples, as above, or many more.
# A step spends time on *computing*, which the N ranks share, and on the *latency* of the allreduce. Latency is the fixed time that the ranks need to meet, however small the gradients are.


# %% role="readonly" id="speed" tags=["picture"]
def step_ms(num_samples):
    """Return the median time of 10 steps on this rank's share of the samples, in milliseconds."""
    hvd.init()
    shard_x = tf.random.uniform([num_samples // hvd.size()])
    slope, offset = variables = [tf.Variable(0.0), tf.Variable(0.0)]
    times = [time.perf_counter()]
    for _ in range(15):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((slope * shard_x + offset - 2 * shard_x) ** 2)
        gradients = hvd.DistributedGradientTape(tape).gradient(loss, variables)
        for variable, gradient in zip(variables, gradients):
            variable.assign_sub(0.1 * gradient)
        times.append(time.perf_counter())
    return 1000 * float(np.median(np.diff(times)[5:]))


counts, many = [1, 2, 4], 2_000_000
milliseconds = {
    size: [max(ranks.run(step_ms, size, num_ranks=count)) for count in counts] for size in (num_samples, many)
}
words = []
figure, (axes,) = pictures.panels(1)
axes.plot(counts, counts, color="grey", linestyle=":", label="N times as fast")
for size, line_style in zip(milliseconds, ("-", "--")):
    speed_up = milliseconds[size][0] / np.array(milliseconds[size])
    axes.plot(counts, speed_up, marker="o", linestyle=line_style, label=f"{size} samples")
    told = ", ".join(f"{ms:.1f}" for ms in milliseconds[size])
    words.append(
        f"{size} samples: {told} ms per step on 1, 2 and 4 ranks, {speed_up[-1]:.2g} times as fast on 4 as on 1"
    )
axes.set(
    xlabel="ranks", ylabel="speed-up", xticks=counts, ylim=(0, None), title=f"One step, {os.cpu_count()} cores here"
)
axes.legend(fontsize="small")
pictures.show(figure, f"Speed-up of one step. {'. '.join(words)}.")
print("\n".join(words))

# %% [markdown] role="readonly" id="end"
# *Expected:* with 1200 samples, more ranks are no faster and usually slower. Computing the gradient takes only microseconds. Most of a step is spent on
# the TensorFlow calls, all of which every rank has to make, and on latency. For a single rank, the latency is almost zero.
# With millions of samples, computing takes most of the time, so it helps to share this work. The same is true of the networks in lab 03, which spend most of each step computing. But if there are more ranks than cores, the ranks have to take turns, and additional ranks no longer help.
#
# ## What you can now do
#
# - run a function on several ranks, and tell rank, local rank and world size apart;
# - turn a single-process loop into one for N ranks: pin, shard, broadcast, average, scale, write once;
# - say what is missing in a program whose ranks drift apart, hang, or all do the same work;
# - say how far the learning rate can be scaled, and when more ranks do not make training faster.
#
# **Further reading**
#
# - [Horovod: fast and easy distributed deep learning in TensorFlow](https://arxiv.org/abs/1802.05799): Horovod's authors explain the ring, the timeline and why they wrote Horovod
# - [Accurate, large minibatch SGD: training ImageNet in 1 hour](https://arxiv.org/abs/1706.02677): linear scaling and warm-up, and what went wrong along the way
# - [Horovod with TensorFlow](https://horovod.readthedocs.io/en/stable/tensorflow.html): the changes that a script needs, from Horovod's documentation
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

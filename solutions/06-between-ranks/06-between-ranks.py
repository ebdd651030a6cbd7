# %% [markdown] role="readonly" id="intro"
# # Lab 06: What travels between ranks
#
# **90 minutes, 20 points, four ranks.**
# It takes one line to call `hvd.allreduce`. In this lab you write the algorithm behind it yourself, with sends and receives. You count every message, measure the cost, and make the allreduce send fewer bytes.
#
# After this lab you can
#
# - write a ring allreduce with sends and receives, and say what each rank sends;
# - fit latency and bandwidth to your own measurements, and use them to choose the faster algorithm;
# - compare sums with a tolerance that follows from rounding errors;
# - tell from Horovod's timeline whether tensors travel separately or together;
# - scale a loss so that gradients survive in 16 bits, and keep all ranks in step.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer on real ranks and reports what is missing; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.

# %% [markdown] role="readonly" id="parameters-text"
# These are the settings of this run. To change them, edit the cell below, or run the notebook with `coursekit execute 06 -p num_ranks 3`.

# %% tags=["parameters"] id="parameters"
num_ranks = 4
num_tensors = 40  # in section 5
num_images = 1600  # synthetic digits in section 6
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
import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf

from coursekit.checks import check, hand_in_report, lab06_allreduce, lab06_costs, lab06_half_precision
from coursekit.imagenet.digits import make_digits
from coursekit.pictures import messages as pictures
from coursekit.ranks.channel import open_channel
from coursekit.throughput import reductions

# Hide the GPUs from this process: TensorFlow would take all the memory of a GPU, which the ranks need.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="channel-text"
# ## 1. Messages, and the plain way (10 minutes)
#
# On each rank, `open_channel()` opens a *channel* to all other ranks of the run. The channel has the attributes `rank` and `num_ranks` and two methods:
#
# - `channel.send(array, to)` sends an array to another rank and returns at once, without waiting for that rank to receive it;
# - `channel.receive(source)` waits for the next array from that rank and returns it. Messages from one rank arrive in the order in which they were sent.
#
# `send` copies the array at once, so you may change your array right away. `receive` returns a new array of the same type and shape, which you may change as well.
#
# The channel counts the messages and bytes that it sends in `num_messages` and `num_bytes`. In the next cell, every rank sends its number to the next rank:


# %% role="readonly" id="hello-channel" tags=["picture"]
def hello():
    with open_channel() as channel:
        right, left = (channel.rank + 1) % channel.num_ranks, (channel.rank - 1) % channel.num_ranks
        channel.send(np.array([channel.rank]), right)
        number = int(channel.receive(left)[0])
        return f"rank {channel.rank} got {number} and sent {channel.num_bytes} bytes"


print("\n".join(ranks.run(hello, num_ranks=num_ranks)))

# %% [markdown] role="readonly" id="naive-text"
# In the *plain* allreduce, every other rank sends its array to rank 0. Rank 0 adds these arrays to its own, and sends the sum to every other rank. No rank sends anything to itself.
#
# **Exercise (2 points).** Write `naive_allreduce`. On every rank, it returns the sum of all ranks' arrays and leaves the rank's own array unchanged.
#
# <details><summary>Hint</summary>
#
# Write two branches, one for rank 0 and one for the others. Rank 0 begins with a copy of its own array, receives from the ranks in `range(1, channel.num_ranks)`, and then sends to the same ranks. Each of the others sends once and receives once.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Instead, add the arrays along a tree: in the first round, rank 1 sends to rank 0, and rank 3 to rank 2; in the second round, rank 2 sends to rank 0. How many rounds are needed for 64 ranks, and how much does rank 0 receive?
#
# </details>


# %% role="answer" id="naive-allreduce"
def naive_allreduce(channel, array):
    """Return the sum of all ranks' arrays, which rank 0 computes."""
    # about 9 lines
    ### BEGIN SOLUTION
    others = range(1, channel.num_ranks)
    if channel.rank:
        channel.send(array, 0)
        return channel.receive(0)
    total = array.copy()
    for rank in others:
        total += channel.receive(rank)
    for rank in others:
        channel.send(total, rank)
    return total
    ### END SOLUTION


# %% role="tests" id="naive-tests" points=2
with check("the plain allreduce", section="1"):
    lab06_allreduce.check_naive(naive_allreduce, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab06_allreduce.check_naive(naive_allreduce, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="ring-text"
# ## 2. The ring (25 minutes)
#
# In the plain allreduce on N ranks, rank 0 receives N - 1 arrays and sends just as many, one after another, while the others wait. On a *ring*, all ranks are busy all the time: each one sends to its right neighbour, `(rank + 1) % N`, and receives from its left neighbour.
#
# The array is cut into N *chunks*. The first half of the algorithm is the **reduce-scatter**. In the first step, rank r sends its chunk number r. In each step, it adds the chunk that it receives to its own chunk with the same number, and it sends the result in the next step.
# In this way, each chunk travels around the ring and collects one part from each rank. After N - 1 steps, rank r holds the complete sum of chunk (r + 1) modulo N.
#
# **Exercise (2 points).** Write `reduce_scatter`. It changes `chunks`, a list of N arrays, in place: afterwards, chunk (rank + 1) modulo N is the sum over all ranks. The contents of the other chunks do not matter.
#
# <details><summary>Hint</summary>
#
# Draw three ranks with three chunks each. Write down which chunk each rank sends and which one it receives, in the first step and in the second. The chunk that arrives in one step is sent on in the next.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# In step 0, the rank sends chunk `rank`. In each later step, the number of the chunk is one lower, modulo N. The chunk that arrives is the chunk that the left neighbour sends in the same step. Python's `%` is never negative.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Reverse the ring, so that every rank sends to the left. If rank r still begins with chunk r, for which chunk does it hold the sum at the end?
#
# </details>


# %% role="answer" id="reduce-scatter"
def reduce_scatter(channel, chunks):
    """Turn chunk (rank + 1) modulo N into its sum over all ranks, in place."""
    # about 5 lines
    ### BEGIN SOLUTION
    rank, size = channel.rank, channel.num_ranks
    for step in range(size - 1):
        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
    ### END SOLUTION


# %% role="tests" id="reduce-scatter-tests" points=2
with check("reduce-scatter", section="2"):
    lab06_allreduce.check_reduce_scatter(reduce_scatter, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab06_allreduce.check_reduce_scatter(reduce_scatter, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="allgather-text"
# The second half is the **allgather**. Each rank now has one finished chunk. In N - 1 more steps, the finished chunks travel around the ring and replace the unfinished ones.
#
# **Exercise (2 points).** Write `allgather`. At the beginning, chunk (rank + 1) modulo N is finished on each rank; at the end, all chunks are finished on all ranks.
#
# <details><summary>Hint</summary>
#
# Use the same loop, but change two things: which chunk a rank sends first, and what it does with the chunk that arrives.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# The rank first sends its finished chunk, number `rank + 1` modulo N. The chunk that arrives is finished, too, and replaces the rank's own chunk of that number.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# `hvd.allgather` can join arrays of different lengths. To do the same, what would your ring have to send in addition to the chunks?
#
# </details>


# %% role="answer" id="allgather"
def allgather(channel, chunks):
    """Send the finished chunks around the ring until every rank has all of them, in place."""
    # about 5 lines
    ### BEGIN SOLUTION
    rank, size = channel.rank, channel.num_ranks
    for step in range(size - 1):
        channel.send(chunks[(rank + 1 - step) % size], (rank + 1) % size)
        chunks[(rank - step) % size] = channel.receive((rank - 1) % size)
    ### END SOLUTION


# %% role="tests" id="allgather-tests" points=2
with check("allgather", section="2"):
    lab06_allreduce.check_allgather(allgather, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab06_allreduce.check_allgather(allgather, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="whole-ring-text"
# Now put both halves together, for an array of any shape. Its length need not be divisible by N, so the lengths of the chunks may differ by one (`np.array_split` cuts the array in this way). The caller's array must not change, so the chunks have to be copies, not views.
#
# **Exercise (2 points).** Write `ring_allreduce`. Each rank sends 2(N - 1) messages, each with at most one N-th of the array (rounded up). The function returns the sum in the shape of the array.
#
# <details><summary>Hint</summary>
#
# `np.array_split(array.ravel(), channel.num_ranks)` returns views, and `.copy()` makes a copy of each. At the end, use `np.concatenate` and `reshape`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write *recursive doubling* for 2, 4, 8, … ranks. In round k, every rank exchanges its whole array with the rank whose number differs in bit k (`channel.rank ^ 2**k`), and both add the two arrays. Each rank then sends log2(N) messages with the whole array instead of 2(N - 1) messages with a part of it. In section 3, you find out when this is better.
#
# </details>


# %% role="answer" id="ring-allreduce"
def ring_allreduce(channel, array):
    """Return the sum of all ranks' arrays, computed on a ring."""
    # about 4 lines
    ### BEGIN SOLUTION
    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
    reduce_scatter(channel, chunks)
    allgather(channel, chunks)
    return np.concatenate(chunks).reshape(array.shape)
    ### END SOLUTION


# %% role="tests" id="ring-tests" points=2
with check("the ring", section="2"):
    lab06_allreduce.check_ring(ring_allreduce, num_ranks=4)
    ### BEGIN HIDDEN TESTS
    lab06_allreduce.check_ring(ring_allreduce, num_ranks=2)
    lab06_allreduce.check_ring(ring_allreduce, num_ranks=5)
    ### END HIDDEN TESTS


# %% [markdown] role="readonly" id="look-text"
# Now look at what your ring sends. Rank r starts with 10 to the power of r in every element of its array, so the digits of a sum show which ranks have contributed to it.
# To tell the chunks apart, each rank also adds a small number to each chunk. This number grows by a thousandth from one chunk to the next.


# %% role="readonly" id="ring-picture" tags=["picture"]
def note_messages(allreduce):
    """Return the receiver and first number of each message, and the bytes sent as a multiple of the array's bytes."""
    with open_channel() as channel:
        own = 10.0**channel.rank + np.arange(1, channel.num_ranks + 1) / 1000
        sent, send = [], channel.send
        channel.send = lambda array, to: (sent.append((to, float(np.ravel(array)[0]))), send(array, to))
        allreduce(channel, own)
        return sent, channel.num_bytes / own.nbytes


by_ring = ranks.run(note_messages, ring_allreduce, num_ranks=num_ranks)
by_rank_0 = ranks.run(note_messages, naive_allreduce, num_ranks=num_ranks)
pictures.show_ring([sent for sent, _ in by_ring])
pictures.show_sent({"the plain way": [each for _, each in by_rank_0], "the ring": [each for _, each in by_ring]})

# %% [markdown] role="quiz" id="ring-quiz"
# In a ring allreduce of 100 MB on 4 ranks, each rank sends 150 MB. How much does each rank send if there are 64 ranks?
#
# - [ ] 2 400 MB, 16 times as much, because there are 16 times as many ranks.
#   Each rank takes more steps, but its messages become smaller by the same factor.
# - [x] 197 MB, and never more than 200 MB, however many ranks there are.
#   Each rank sends 2(N - 1)/N times the array; that is why the ring is good for large arrays. But the number of steps grows, and each step adds one latency.
# - [ ] 9 MB, because the array is cut into 64 chunks.
#   A chunk is 1.6 MB, and each rank sends 126 of them.

# %% [markdown] role="readonly" id="cost-text"
# ## 3. What it costs (17 minutes)
#
# Every message, however small, takes a *latency* α, and each byte takes a time β; 1/β is the bandwidth. For n bytes on N ranks, the ring takes
#
# $$T_\text{ring} = 2(N-1)\left(\alpha + \frac{n}{N}\beta\right)$$
#
# The next cell times your two allreduces and Horovod's with arrays from 4 kB to 4 MB. It also times *one copy* of the array, made by all ranks at the same time. Every rank has to write the sum, so no allreduce can be faster than this copy.


# %% role="readonly" id="measure" tags=["picture"]
sizes = np.geomspace(4e3, 4e6, 7).astype(int) // 16 * 16  # sizes of the array, in bytes


def measure(allreduce):
    """Return this rank's median time for each size, in seconds."""
    medians = []
    with open_channel() as channel:
        for size in sizes:
            array, seconds = np.ones(size // 4, np.float32), []
            for _ in range(7):
                begin = time.perf_counter()
                allreduce(channel, array)
                seconds.append(time.perf_counter() - begin)
            medians.append(np.median(seconds))
    return medians


def by_horovod(_channel, array):
    hvd.init()
    return hvd.allreduce(array, op=hvd.Sum).numpy()


def by_copy(_channel, array):
    return array.copy()


ways = {"the plain way": naive_allreduce, "the ring": ring_allreduce, "Horovod": by_horovod, "one copy": by_copy}
measured = {
    name: (sizes, np.max(ranks.run(measure, way, num_ranks=num_ranks, seed=seed), axis=0)) for name, way in ways.items()
}
print(f"measured with {ranks.horovod_build()}")

# %% [markdown] role="readonly" id="fit-text"
# **Exercise (2 points).** Write `fit_cost`. From measured `seconds`, it finds α and β such that seconds ≈ `num_steps` α + `num_bytes` β, by minimising the sum of the squared *relative* errors.
# For each measurement, you also get the number of steps and the number of bytes that a rank sent.
# (Why relative errors? α is only microseconds, and can be seen only in small messages. With absolute errors, the milliseconds of the large messages would hide it.)
#
# <details><summary>Hint</summary>
#
# `np.linalg.lstsq(rows, right, rcond=None)[0]` minimises the sum of the squares of `rows @ x - right`. A row is `[num_steps, num_bytes]`. Divide each row by its seconds; then `right` is 1 everywhere.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Also measure with 2 and 3 ranks, and fit all measurements together. Do α and β stay the same? On how many cores do your ranks run?
#
# </details>


# %% role="answer" id="fit-cost"
def fit_cost(num_steps, num_bytes, seconds):
    """Return alpha in seconds and beta in seconds per byte; all arguments have the shape (num_measured,)."""
    # about 3 lines
    ### BEGIN SOLUTION
    rows = np.stack([num_steps / seconds, num_bytes / seconds], axis=1)
    alpha, beta = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
    return alpha, beta
    ### END SOLUTION


# %% role="tests" id="fit-tests" points=2
with check("latency and bandwidth", section="3"):
    lab06_costs.check_fit_cost(fit_cost, num_sizes=12)
    ### BEGIN HIDDEN TESTS
    lab06_costs.check_fit_cost(fit_cost, num_sizes=20)
    ### END HIDDEN TESTS

# %% role="readonly" id="cost-picture" tags=["picture"]
num_steps = 2 * (num_ranks - 1)
alpha, beta = fit_cost(np.full(len(sizes), num_steps), num_steps / num_ranks * sizes, measured["the ring"][1])
print(f"alpha = {1e6 * alpha:.0f} microseconds, 1/beta = {1e-9 / beta:.2f} GB/s")
pictures.show_costs(measured, {"the ring": lambda n: num_steps * (alpha + n / num_ranks * beta)})

# %% [markdown] role="readonly" id="cost-picture-text"
# Within one node, nothing travels over a network: bytes are copied through the node's memory, and all ranks share this memory and the cores. So 1/β is a *copy limit*, not the bandwidth of a network: each byte of a message is not only added, but also copied into the operating system and out again. The picture shows how much longer this takes than one plain copy. Here, the plain allreduce is often faster than the ring.
# The ring divides rank 0's work among all ranks. This helps if each rank has its own cores, as on a cluster, where each rank also has its own part of the network. On this machine, the ranks usually take turns on a few cores.
# Horovod also needs time for all ranks to agree on what to send. It checks for tensors once per cycle, which lasts a millisecond by default. On shared cores, each check also has to wait for its turn.
#
# ### Which algorithm, when?
#
# *Recursive doubling*, the stretch task in section 2, takes log₂(N) steps, each with the whole array:
#
# $$T_\text{doubling} = \log_2(N) \left(\alpha + n\beta\right)$$
#
# **Exercise (1 point).** Write `crossover`. It returns the number of bytes n at which both algorithms take equally long on N ranks (a power of two, at least 4). For arrays of more than n bytes, the ring is faster.
#
# <details><summary>Hint</summary>
#
# Set both times equal and solve for n; the result is a fraction. Its numerator is α times the difference in the number of steps. Its denominator is β times the difference in the number of arrays that a rank sends, with each chunk counted as a fraction.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Compute the crossover with α = 10 microseconds and 10 GB/s, for N = 8 and for N = 512. ResNet-50's largest gradient is 9 MB, and most of its gradients are a few kB. Which algorithm is better for which gradients?
#
# </details>


# %% role="answer" id="crossover"
def crossover(num_ranks, alpha, beta):
    """Return the number of bytes above which the ring is faster than recursive doubling."""
    # about 3 lines
    ### BEGIN SOLUTION
    num_rounds = np.log2(num_ranks)
    more_steps = 2 * (num_ranks - 1) - num_rounds
    return more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
    ### END SOLUTION


# %% role="tests" id="crossover-tests" points=1
with check("which algorithm, when", section="3"):
    lab06_costs.check_crossover(crossover, [4, 8])
    ### BEGIN HIDDEN TESTS
    lab06_costs.check_crossover(crossover, [16, 64, 1024])
    ### END HIDDEN TESTS

# %% role="readonly" id="own-crossover" tags=["picture"]
for count in (4, 64, 1024):
    print(f"{count} ranks with your alpha and beta: {crossover(count, alpha, beta) / 1e6:.2f} MB")

# %% [markdown] role="readonly" id="equal-text"
# ## 4. What equal means (10 minutes)
#
# A sum of floating-point numbers depends on the order of the additions. The plain way adds the ranks' arrays in rank order. On the ring, the sum of each chunk begins with a different rank. NCCL picks a different algorithm for larger arrays. With half as many ranks, each rank first sums over twice as many samples, so the additions are grouped differently. For all these reasons, the same gradients can give sums that differ in their last bits. (This needs at least three ranks: with two ranks, there is a single addition, which has only one result.)


# %% role="readonly" id="differ" tags=["picture"]
def add_up():
    """Return this rank's own gradients and the sums over all ranks from the plain way, the ring and Horovod."""
    own = tf.random.normal([1000]).numpy()
    with open_channel() as channel:
        return own, naive_allreduce(channel, own), ring_allreduce(channel, own), by_horovod(channel, own)


of_ranks = ranks.run(add_up, num_ranks=num_ranks, seed=seed)
parts = np.stack([own for own, *_ in of_ranks])
by_naive, by_ring, by_hvd = of_ranks[0][1:]
by_two = parts[: num_ranks // 2].sum(axis=0) + parts[num_ranks // 2 :].sum(axis=0)
print(f"of 1000 sums, {np.sum(by_naive != by_ring)} differ between the plain way and the ring,")
print(f"{np.sum(by_naive != by_two)} between {num_ranks} ranks and two with the same samples,")
print(
    f"{np.sum(by_naive != by_hvd)} between the plain way and Horovod, by at most {np.abs(by_naive - by_hvd).max():.1g}"
)

# %% [markdown] role="readonly" id="same-text"
# So a test must not compare sums with `==`. But a fixed tolerance does not work either. For gradients of 1e-9, a tolerance of 1e-6 is so large that a sum passes even if a whole part is missing. For gradients of 1e6, the same tolerance is so small that even a correct sum can fail.
# And if the parts nearly cancel, even the relative error of the sum is large, although nothing is wrong.
#
# The effect of rounding has a known bound: the relative error of each addition is at most ε/2, where ε is `np.finfo(dtype).eps`. So a sum of N parts is off by less than N ε/2 Σ|part|, and two such sums differ by less than N ε Σ|part|. Each *element* of the array has its own bound.
#
# **Exercise (2 points).** Write `same_sum`. It gets two arrays, `first` and `second`, of shape `(n,)`, and the `parts`, of shape `(num_ranks, n)`. It returns whether both arrays could be sums of these parts, whatever the order in which the parts were added. A NaN does not count as a sum.
#
# <details><summary>Hint</summary>
#
# `np.abs(parts).sum(axis=0)` is Σ|part| for each element. Compare with `<=`, which is never true for a NaN, and use `np.all`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add in float64, and round only once, at the end. Is the sum now the same for every order? Try it with the gradients above, then with `parts` that cancel.
#
# </details>


# %% role="answer" id="same-sum"
def same_sum(first, second, parts):
    """Return whether two sums of the same parts differ by no more than rounding errors allow."""
    # about 2 lines
    ### BEGIN SOLUTION
    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
    return bool(np.all(np.abs(first - second) <= bound))
    ### END SOLUTION


# %% role="tests" id="same-tests" points=2
with check("what equal means", section="4"):
    lab06_costs.check_same_sum(same_sum, max_num_ranks=16)
    ### BEGIN HIDDEN TESTS
    lab06_costs.check_same_sum(same_sum, max_num_ranks=32)
    ### END HIDDEN TESTS

# %% role="readonly" id="own-sums" tags=["picture"]
print("your two algorithms and Horovod agree:", same_sum(by_naive, by_ring, parts), same_sum(by_naive, by_hvd, parts))

# %% [markdown] role="readonly" id="fusion-text"
# ## 5. Many small tensors (11 minutes)
#
# A network has many gradients, most of them small. Each allreduce costs the ranks its latencies, and the time to agree on what to send. So Horovod collects the tensors that are ready within a cycle, copies them into one buffer (`HOROVOD_FUSION_THRESHOLD`, 128 MB by default), and sends the buffer. This is *tensor fusion*.
# This works only if Horovod gets the tensors together, as it does from a `tf.function` such as the training step of Keras' `fit`. If you call the allreduces one after another in plain Python, each has to finish before the next one begins.
# Two things decide which tensors travel together. The first is the *cycle* (`HOROVOD_CYCLE_TIME`, 1 ms by default), during which Horovod collects tensors: an early tensor waits, and a late tensor travels in the next cycle. The second is `hvd.grouped_allreduce`: you declare that its tensors belong together, so Horovod waits for all of them, whether or not they are in a graph.
#
# You can see all this in Horovod's *timeline*: with `HOROVOD_TIMELINE`, rank 0 records what happens to each tensor. The function `reductions` reads from the timeline when each tensor was on the wire.


# %% role="readonly" id="wire-picture" tags=["picture"]
def hand_over(way):
    """Average many small tensors twice, in one of three ways; return how many seconds the second round takes."""
    hvd.init()
    tensors = [tf.ones(1000) * number for number in range(num_tensors)]

    def average():
        return [hvd.allreduce(tensor, name=f"gradient-{number}") for number, tensor in enumerate(tensors)]

    if way == "grouped":
        average = lambda: hvd.grouped_allreduce(tensors)
    elif way == "in a graph":
        average = tf.function(average).get_concrete_function()
    time.sleep(0.2)  # the thread that writes the timeline starts late, and stops without checking for new events
    average()  # untimed: the first call takes longer, and some ranks start late
    begin = time.perf_counter()
    average()
    seconds = time.perf_counter() - begin
    time.sleep(0.2)
    hvd.shutdown()  # the timeline is now complete
    return seconds


timelines, seconds_of = {}, {}
for name, way, environ in [
    ("one by one", "one by one", {}),
    ("graph, no fusion", "in a graph", {"HOROVOD_FUSION_THRESHOLD": "0"}),
    ("graph", "in a graph", {}),
    ("graph, cycle 20 ms", "in a graph", {"HOROVOD_CYCLE_TIME": "20"}),
    ("grouped", "grouped", {}),
]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timeline.json"
        environ = {"HOROVOD_TIMELINE": str(path), **environ}
        seconds_of[name] = max(ranks.run(hand_over, way, num_ranks=num_ranks, environ=environ))
        timelines[name] = [(one.sent_us, one.done_us) for one in reductions(path)[-num_tensors:]]
pictures.show_wire(timelines)

# %% [markdown] role="readonly" id="wire-text"
# Tensors that travel in one buffer are on the wire at the same time: in the timeline, their times agree to within a few microseconds. Otherwise, tensors travel one after another.
#
# **Exercise (2 points).** Write `num_on_wire`. It gets the intervals of a timeline as pairs of begin and end, in any order, and returns the number of operations. Intervals that overlap belong to the same operation. An interval that begins exactly when another ends belongs to a new operation. A timeline may be empty.
#
# <details><summary>Hint</summary>
#
# Go through `sorted(intervals)` and remember the latest end so far. An interval that begins at or after that end begins a new operation.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Run `hand_over("in a graph")` with a `HOROVOD_FUSION_THRESHOLD` of 20000 bytes. How many operations are there? Then try cycles of 5 and of 100 ms. What does a long cycle cost, and when is it worth the cost?
#
# </details>


# %% role="answer" id="num-on-wire"
def num_on_wire(intervals):
    """Return the number of operations on the wire; intervals that overlap belong to one operation."""
    # about 6 lines
    ### BEGIN SOLUTION
    num_operations, latest_end = 0, -np.inf
    for begin, end in sorted(intervals):
        num_operations += begin >= latest_end
        latest_end = max(latest_end, end)
    return num_operations
    ### END SOLUTION


# %% role="tests" id="wire-tests" points=2
with check("operations on the wire", section="5"):
    lab06_costs.check_num_on_wire(num_on_wire, max_num_operations=10)
    ### BEGIN HIDDEN TESTS
    lab06_costs.check_num_on_wire(num_on_wire, max_num_operations=40)
    ### END HIDDEN TESTS

# %% role="readonly" id="own-wire" tags=["picture"]
for name, spans in timelines.items():
    took = f"{1e3 * seconds_of[name]:.1f} ms with all waiting"
    print(f"{name}: {len(spans)} tensors, operations: {num_on_wire(spans)}, {took}")

# %% [markdown] role="readonly" id="half-text"
# ## 6. Sixteen bits (17 minutes)
#
# With 16 bits instead of 32, half as many bytes travel, and GPUs compute several times as fast. But the largest float16 number is 65504, and numbers smaller than 3e-8 become zero. Which of your gradients would survive? The next cell trains a network on the digits of lab 05 for eight epochs and then computes its gradients. By then, most gradients are small.

# %% role="readonly" id="gradients" tags=["picture"]
tf.keras.utils.set_random_seed(seed)
images, labels = make_digits(num_images, seed)
images = images.astype(np.float32) / 255
network = tf.keras.Sequential(
    [
        tf.keras.layers.Flatten(input_shape=(28, 28)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(10),
    ]
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
network.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9), loss)
network.fit(images, labels, epochs=8, batch_size=64, verbose=0)
with tf.GradientTape() as tape:
    value = loss(labels, network(images))
gradients = np.concatenate([np.ravel(one) for one in tape.gradient(value, network.trainable_variables)])
print(
    f"{gradients.size} gradients, {np.mean(gradients == 0):.0%} of them zero, the largest {np.abs(gradients).max():.2g}"
)

# %% [markdown] role="readonly" id="lost-text"
# *Loss scaling* saves small gradients: multiply the loss, and with it every gradient, by a large number before the backward pass. Divide the gradients by the same number once they are in 32 bits again. Scaling by a power of two does not change any digits.
#
# **Exercise (1 point).** Write `lost_share`. It multiplies the gradients by `scale` and casts them to float16. It returns the share of the nonzero gradients that become zero or infinite.
#
# <details><summary>Hint</summary>
#
# Compute `(gradients * scale).astype(np.float16)`. Then find where the result is 0 or infinite (`np.isinf`), although the gradient is not 0. NumPy warns about overflows; `with np.errstate(over="ignore"):` turns this off.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# bfloat16 has the range of float32 but only 8 bits of precision (`tf.cast(…, tf.bfloat16)`). What share of the gradients becomes zero or infinite, and what is lost instead?
#
# </details>


# %% role="answer" id="lost-share"
def lost_share(gradients, scale):
    """Return the share of nonzero gradients that become zero or infinite when scaled and cast to 16 bits."""
    # about 4 lines
    ### BEGIN SOLUTION
    with np.errstate(over="ignore"):
        halves = (gradients * np.float32(scale)).astype(np.float16)
    is_lost = (halves == 0) | np.isinf(halves)
    return np.mean(is_lost[gradients != 0])
    ### END SOLUTION


# %% role="tests" id="lost-tests" points=1
with check("what 16 bits lose", section="6"):
    lab06_half_precision.check_lost_share(lost_share, num_gradients=600)
    ### BEGIN HIDDEN TESTS
    lab06_half_precision.check_lost_share(lost_share, num_gradients=1501)
    ### END HIDDEN TESTS

# %% role="readonly" id="gradients-picture" tags=["picture"]
scales = [1.0, 2.0**12, 2.0**28]
pictures.show_gradients(gradients, scales, [lost_share(gradients, scale) for scale in scales])

# %% [markdown] role="readonly" id="scale-text"
# The right scale changes during training, so the scale is *dynamic*. If a gradient overflows, the step is skipped and the scale is halved. After `growth_steps` good steps in a row, the scale is doubled and counting starts again.
#
# **Exercise (2 points).** Write `next_scale`. It gets the scale, the number of good steps since the scale last changed, and whether all of this step's gradients were finite.
# It returns what the next step needs: the new scale and the new number of good steps.
#
# <details><summary>Hint</summary>
#
# After an overflow, return `scale / 2, 0`. If a good step brings the number of good steps to `growth_steps`, return `2 * scale, 0`. Otherwise, keep the scale and add one to the number of good steps.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# If the scale is doubled after 2000 good steps, what share of the steps is skipped in the long run? And if it is doubled after 20 or after 20000?
#
# </details>


# %% role="answer" id="next-scale"
def next_scale(scale, num_good, is_finite, growth_steps):
    """Return the loss scale and the number of consecutive good steps, both after this step."""
    # about 5 lines
    ### BEGIN SOLUTION
    if not is_finite:
        return scale / 2, 0
    if num_good + 1 == growth_steps:
        return 2 * scale, 0
    return scale, num_good + 1
    ### END SOLUTION


# %% role="tests" id="scale-tests" points=2
with check("the next scale", section="6"):
    lab06_half_precision.check_next_scale(next_scale, num_steps=60)
    ### BEGIN HIDDEN TESTS
    lab06_half_precision.check_next_scale(next_scale, num_steps=150)
    ### END HIDDEN TESTS

# %% role="readonly" id="scale-picture" tags=["picture"]
were_finite = [step % 9 != 7 for step in range(30)]
optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
    tf.keras.optimizers.SGD(0.0), initial_scale=2.0**10, dynamic_growth_steps=3
)
weight = tf.Variable(1.0)
yours, keras, num_good = [2.0**10], [2.0**10], 0
optimizer.get_scaled_loss(tf.constant(0.0))  # where the backward pass would begin
for is_finite in were_finite:
    unscaled = optimizer.get_unscaled_gradients([tf.constant(1.0 if is_finite else np.inf)])
    optimizer.apply_gradients(zip(unscaled, [weight]))
    keras.append(float(optimizer.loss_scale))
    scale, num_good = next_scale(yours[-1], num_good, is_finite, 3)
    yours.append(scale)
pictures.show_scales({"yours": yours, "Keras' LossScaleOptimizer": keras}, were_finite)

# %% [markdown] role="readonly" id="mean-text"
# ### In step
#
# If one rank's gradients overflow and another's do not, both ranks must skip the step; otherwise, their weights differ from then on. So the order is **average, unscale, check**: an infinity or a NaN on any rank makes the average infinite or NaN on all ranks, so all ranks make the same decision. If the ranks checked before averaging, each of them would decide for itself.
# The weights stay in 32 bits (*master weights*): in float16, 1 + 0.0004 is 1, so a small step would change nothing.
#
# **Exercise (2 points).** Write `mean_gradients`. It gets this rank's scaled gradients, a list of float16 tensors. On every rank, it returns a list of the means over all ranks, in float32 and divided by the scale. But if any number on any rank is not finite, it returns `None` on every rank.
#
# <details><summary>Hint</summary>
#
# For each gradient, compute `hvd.allreduce(tf.cast(gradient, tf.float32), op=hvd.Average) / scale`. Then check each mean with `tf.reduce_all(tf.math.is_finite(mean))`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Call `hvd.allreduce` with `compression=hvd.Compression.fp16`: it casts to 16 bits, averages, and casts back. Does this give the same result as your function if the gradients are scaled? And if they are not?
#
# </details>


# %% role="answer" id="mean-gradients"
def mean_gradients(gradients, scale):
    """Return the unscaled means over all ranks in 32 bits, or None on all ranks if any rank overflowed."""
    # about 4 lines
    ### BEGIN SOLUTION
    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
    if all(bool(tf.reduce_all(tf.math.is_finite(mean))) for mean in means):
        return means
    return None
    ### END SOLUTION


# %% role="tests" id="mean-tests" points=2
with check("average, unscale, check", section="6"):
    lab06_half_precision.check_mean_gradients(mean_gradients, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab06_half_precision.check_mean_gradients(mean_gradients, num_ranks=4)
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="half-quiz"
# Someone sets Keras' policy `mixed_float16`, changes nothing else, and trains with Horovod as before. How many bytes of gradients do the allreduces now send?
#
# - [ ] Half as many as before, because everything is computed in 16 bits.
#   The layers compute in 16 bits, but their variables have 32 bits, and each gradient has the type of its variable.
# - [x] As many as before: the gradients of float32 variables are float32.
#   Only `compression=hvd.Compression.fp16`, or your own cast, halves the bytes that travel.
# - [ ] Twice as many, because the scale is sent along with each number.
#   The scale is a single number that is the same on all ranks, and it is not sent at all.

# %% [markdown] role="readonly" id="less-text"
# ## 7. At home: talk less, at a better time, or in groups
#
# This section takes about 7 minutes, in addition to the lab's time.
#
# The next cell tries three ways to send less while it trains the network of section 6. Horovod's timeline shows how much data is sent in each case:
#
# - *Accumulation*: add up the gradients of several batches on each rank, and average them only once (`backward_passes_per_step` of `hvd.DistributedOptimizer`). In the next cell, this halves the number of messages, but in effect it doubles the batch size; lab 02 shows the cost of a larger batch.
# - Keras' policy `mixed_float16`: the quiz above explains how this affects the number of bytes sent.
# - `compression=hvd.Compression.fp16`: gradients travel as float16.


# %% role="readonly" id="less-runs" tags=["picture"]
def train(num_units=128, num_hidden=1, batch_size=16, policy="float32", num_batches=12, **options):
    """Train a network on some batches of this rank's digits and return the loss; options go to Horovod's optimiser."""
    tf.get_logger().setLevel("ERROR")  # hides the warning that this machine has no unit for 16 bits
    hvd_keras.init()
    tf.keras.mixed_precision.set_global_policy(policy)
    tf.keras.utils.set_random_seed(seed)
    hidden = [tf.keras.layers.Dense(num_units, activation="relu") for _ in range(num_hidden)]
    one = tf.keras.Sequential([tf.keras.layers.Flatten(), *hidden, tf.keras.layers.Dense(10, dtype="float32")])
    one.compile(hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(0.05), **options), loss)
    mine = slice(hvd_keras.rank(), hvd_keras.size() * batch_size * num_batches, hvd_keras.size())
    time.sleep(0.2)  # the thread that writes the timeline starts late, and stops without checking for new events
    history = one.fit(images[mine], labels[mine], batch_size=batch_size, verbose=0)
    time.sleep(0.2)
    hvd_keras.shutdown()
    return history.history["loss"][0]


def timeline_of(num_ranks=num_ranks, cycle_ms="1", **options):
    """Train on `num_ranks` ranks, and return rank 0's loss and the reductions in Horovod's timeline."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timeline.json"
        environ = {"HOROVOD_TIMELINE": str(path), "HOROVOD_CYCLE_TIME": cycle_ms}
        losses = ranks.run(lambda: train(**options), num_ranks=num_ranks, environ=environ)
        return losses[0], reductions(path)


for name, options in [
    ("as it is", {}),
    ("two batches, one average", {"backward_passes_per_step": 2}),
    ("mixed_float16", {"policy": "mixed_float16"}),
    ("compression", {"compression": hvd_keras.Compression.fp16}),
]:
    loss_of_run, sent = timeline_of(**options)
    total = sum(one.num_bytes for one in sent)
    print(f"{name:25} {len(sent):3} reductions, {total / 1e6:5.2f} MB from each rank, loss {loss_of_run:.3f}")

# %% [markdown] role="readonly" id="overlap-text"
# *Overlap*: the backward pass begins at the last layer, so this layer's gradient is ready first and can travel while the others are still being computed. The next cell trains a wider network, with four hidden layers, on two ranks. The run has six steps; the picture shows a typical one from the timeline. In this run, Horovod looks for gradients ten times as often as by default, because the layers are small. If ranks share cores, the overlap differs from run to run, so run the cell more than once.

# %% role="readonly" id="overlap-picture" tags=["picture"]
_, sent = timeline_of(num_ranks=2, cycle_ms="0.1", num_units=768, num_hidden=4, batch_size=128, num_batches=6)
steps = [sent[first : first + 10] for first in range(0, len(sent), 10)]  # weights and bias of five layers
steps.sort(key=lambda step: max(one.ready_us for one in step) - min(one.ready_us for one in step))
pictures.show_overlap(steps[len(steps) // 2])

# %% [markdown] role="readonly" id="groups-text"
# You should know two more names:
#
# - `hvd.join()`: a rank that has no more batches contributes zeros until the last rank is done. The call returns the number of that last rank. For an average, the sum is still divided by the total number of ranks.
# - *Process sets*: groups of ranks that communicate only among themselves. For example, one half of the ranks can train and average gradients, while the other half validates and averages losses. In the next cell, each half simply averages the numbers of its ranks.


# %% role="readonly" id="groups" tags=["picture"]
def groups():
    """Average in a group that trains and in a group that validates, then let the ranks finish one after another."""
    half = num_ranks // 2
    sets = [hvd.ProcessSet(list(range(half))), hvd.ProcessSet(list(range(half, num_ranks)))]
    hvd.init(process_sets=sets)
    validates = hvd.rank() >= half
    mine = sets[validates]
    of_group = float(hvd.allreduce(tf.constant(float(hvd.rank())), op=hvd.Average, process_set=mine))
    for _ in range(hvd.rank() + 1):  # unequal steps
        hvd.allreduce(tf.constant(1.0), name="step")
    does = "validates" if validates else "trains"
    return f"rank {hvd.rank()} {does}: mean of its group {of_group}, the last to be done was rank {int(hvd.join())}"


print("\n".join(ranks.run(groups, num_ranks=num_ranks)))

# %% [markdown] role="readonly" id="end"
# ## What you can now do
#
# - You can write an allreduce, and you know what every rank sends in each step.
# - You can fit α and β to measurements, and use them to choose the algorithm.
# - You can compare sums element by element, with a tolerance that follows from rounding errors.
# - You can tell from a timeline whether tensors travel together, how many bytes they have, and whether sending overlaps with computing.
# - You know which gradients are lost in 16 bits, and you can scale a loss while keeping all ranks in step.
#
# **Further reading**
#
# - [Bringing HPC techniques to deep learning](https://andrew.gibiansky.com/blog/machine-learning/baidu-allreduce/): the ring that made data-parallel training common.
# - [Optimization of collective communication operations in MPICH](https://doi.org/10.1177/1094342005051521): rings, doubling and halving, and when each is fastest.
# - [Mixed precision training](https://arxiv.org/abs/1710.03740): histograms of gradients, loss scaling and master weights.
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

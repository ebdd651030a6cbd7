# %% [markdown] role="readonly" id="intro"
# # Lab 06: What travels between ranks
#
# **90 minutes, 20 points, four ranks.**
# `hvd.allreduce` is one line. You write what is behind it yourself, with sends and receives, count every message, measure what it costs, and make it carry less.
#
# After this lab you can
#
# - write an allreduce on a ring with sends and receives, and say what each rank sends;
# - fit latency and bandwidth to your own measurements, and tell which algorithm is faster when;
# - compare sums as rounding errors demand;
# - read from Horovod's timeline whether tensors travel alone or together;
# - scale a loss so that gradients survive 16 bits, in step on all ranks.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` by your answer.
# The cell after each exercise checks your answer on real ranks and names the property that is missing; run it as often as you like.
# Where a later section needs an answer, *Stuck?* above its cell takes it from the solution, without the points. Quizzes and *Stretch* give no points.
# In grading, a cell that takes longer than 60 s is stopped; what it has defined until then counts.
# `AGENTS.md` tells an AI assistant how to help you here: it explains and asks back, and writes no answers.

# %% [markdown] role="readonly" id="parameters-text"
# The numbers of this run. To change them, edit here, or run the notebook with `coursekit execute 06 -p num_ranks 3`.

# %% tags=["parameters"] id="parameters"
num_ranks = 4
num_tensors = 40  # of section 5
num_images = 1600  # synthetic digits, of section 6
seed = 1

# %% role="readonly" id="imports"
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # else TensorFlow greets us with a page of messages
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

# GPUs are for the ranks: in this process TensorFlow would take all memory of one.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="channel-text"
# ## 1. Messages, and the plain way (10 minutes)
#
# On each rank, `open_channel()` gives a *channel* to all other ranks of the run. It knows `rank` and `num_ranks`, and has two functions:
#
# - `channel.send(array, to)` puts an array on its way to another rank and returns at once, whether anybody receives it or not;
# - `channel.receive(source)` waits for the next array of that rank and returns it. Messages of one rank arrive in the order in which they were sent.
#
# What is sent are the numbers as they are at that moment: the array may be changed at once. What is received is a new array of the same type and shape, which is yours.
#
# It counts what it sends in `num_messages` and `num_bytes`. Here every rank sends its number to the next one:


# %% role="readonly" id="hello-channel" tags=["picture"]
def hello():
    with open_channel() as channel:
        right, left = (channel.rank + 1) % channel.num_ranks, (channel.rank - 1) % channel.num_ranks
        channel.send(np.array([channel.rank]), right)
        number = int(channel.receive(left)[0])
        return f"rank {channel.rank} got {number} and sent {channel.num_bytes} bytes"


print("\n".join(ranks.run(hello, num_ranks=num_ranks)))

# %% [markdown] role="readonly" id="naive-text"
# The *plain* allreduce: every rank sends its array to rank 0, rank 0 adds them up and sends the sum to every other rank. No rank sends anything to itself.
#
# **Exercise (2 points).** Write `naive_allreduce`: on every rank it returns the sum of all ranks' arrays, and leaves the rank's own array as it was.
#
# <details><summary>Hint</summary>
#
# Two branches, for rank 0 and for the others. Rank 0 begins with a copy of its own array, receives from `range(1, channel.num_ranks)` and then sends to the same ranks. Each of the others sends once and receives once.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Let the sum come in on a tree instead: in the first round rank 1 sends to 0 and 3 to 2, in the second 2 to 0. How many rounds are there for 64 ranks, and how much does rank 0 receive?
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
# With N ranks, rank 0 receives N - 1 arrays and sends as many, one after the other, while the others wait. On a *ring* all ranks send all the time, each to its right neighbour, `(rank + 1) % N`, and receive from the left one.
#
# The array is cut into N *chunks*. First half, **reduce-scatter**: in the first step, rank r sends its chunk number r. In each step it adds what arrives to its own chunk of the same number, and passes that one on in the next step.
# A chunk so travels around the ring and collects one part from each rank. After N - 1 steps rank r has the sum of chunk (r + 1) modulo N.
#
# **Exercise (2 points).** Write `reduce_scatter`. `chunks` is a list of N arrays, which it changes: afterwards chunk (rank + 1) modulo N is the sum over all ranks. What is in the others then does not matter.
#
# <details><summary>Hint</summary>
#
# Draw three ranks with three chunks each. Write down which chunk each rank sends in the first step and in the second, and which one it receives. What arrives in one step is sent on in the next.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# In step 0 the rank sends chunk `rank`, in each later step the one with the number before: modulo N. From the left comes what the left neighbour sends in this step. Python's `%` is never negative.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Turn the ring around: every rank sends to the left. Which chunk does it finish then, when it begins with its own?
#
# </details>


# %% role="answer" id="reduce-scatter"
def reduce_scatter(channel, chunks):
    """Let chunk (rank + 1) modulo N become the sum over all ranks."""
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
# Second half, **allgather**: each rank has one finished chunk. In N - 1 more steps the finished chunks go around the ring, and take the places of what is there.
#
# **Exercise (2 points).** Write `allgather`: at the beginning chunk (rank + 1) modulo N is finished on each rank, at the end all chunks are, on all ranks.
#
# <details><summary>Hint</summary>
#
# The same loop, with two changes: where it begins, and what it does with what arrives.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# It begins with the chunk that is finished on this rank, `rank + 1` modulo N. What arrives is finished, too: it takes the place of what is there.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# `hvd.allgather` joins arrays of different lengths. What would your ring have to send besides the chunks for that?
#
# </details>


# %% role="answer" id="allgather"
def allgather(channel, chunks):
    """Let the finished chunks of all ranks come to every rank."""
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
# Now both halves together, for an array of any shape: its length need not be divisible by N, so chunks differ by one number (`np.array_split` cuts so). The caller's array stays as it was, so the chunks have to be copies, not views.
#
# **Exercise (2 points).** Write `ring_allreduce`: each rank sends 2(N - 1) messages, each of at most the N-th part of the array (rounded up), and returns the sum in the shape of the array.
#
# <details><summary>Hint</summary>
#
# `np.array_split(array.ravel(), channel.num_ranks)` returns views, `.copy()` makes copies of them. At the end `np.concatenate` and `reshape`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write *recursive doubling*, for 2, 4, 8, … ranks: in round k every rank exchanges its whole array with the rank whose number differs in bit k (`channel.rank ^ 2**k`), and both add. It takes log2(N) messages of the whole array instead of 2(N - 1) of a part: section 3 asks when that is better.
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
# Look at what your ring sends. Rank r begins with 10 to the power of r in every place, so the digits of a sum show whose parts are in it.
# Each chunk has a thousandth more than the one before, which shows the chunk.


# %% role="readonly" id="ring-picture" tags=["picture"]
def note_messages(allreduce):
    """Return what this rank sends in an allreduce, and how much, in arrays."""
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
# In a ring allreduce of 100 MB on 4 ranks each rank sends 150 MB. How much does each rank send on 64 ranks?
#
# - [ ] 2 400 MB, 16 times as much, since there are 16 times as many ranks.
#   Each rank makes more steps, but each of its messages becomes smaller in the same measure.
# - [x] 197 MB, and never more than 200, however many ranks there are.
#   2(N - 1)/N of the array: that is why the ring is good for large arrays. The number of steps grows, though, and each costs its latency.
# - [ ] 9 MB, since the array is cut into 64 chunks.
#   A chunk has 1.6 MB, and each rank sends 126 of them.

# %% [markdown] role="readonly" id="cost-text"
# ## 3. What it costs (17 minutes)
#
# A message costs a *latency* α, however small it is, and β for each byte; 1/β is the bandwidth. So for n bytes on N ranks
#
# $$T_\text{ring} = 2(N-1)\left(\alpha + \frac{n}{N}\beta\right)$$
#
# Measure your two allreduces with arrays from 4 kB to 4 MB, and Horovod's beside them. And *one copy* of the array on each rank, all at the same time: a rank that has the sum has written it, so no allreduce is faster than that.


# %% role="readonly" id="measure" tags=["picture"]
sizes = np.geomspace(4e3, 4e6, 7).astype(int) // 16 * 16  # bytes of the array


def measure(allreduce):
    """Return the median of seconds for each size, on this rank."""
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
# **Exercise (2 points).** Write `fit_cost`: from measurements of `seconds`, find α and β with seconds ≈ `num_steps` α + `num_bytes` β, by least squares of the *relative* errors.
# Each measurement has its number of steps and the bytes that a rank sent.
# (Absolute errors of the large messages, milliseconds, would hide what the small ones say of α, microseconds.)
#
# <details><summary>Hint</summary>
#
# `np.linalg.lstsq(rows, right, rcond=None)[0]` minimises the squares of `rows @ x - right`. A row is `[num_steps, num_bytes]`; divide each row by its seconds, then `right` is 1 everywhere.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Measure with 2 and 3 ranks, too, and fit all of it together. Are α and β the same? On how many cores do your ranks run?
#
# </details>


# %% role="answer" id="fit-cost"
def fit_cost(num_steps, num_bytes, seconds):
    """Return alpha, in seconds, and beta, in seconds for each byte; all arguments have the shape (num_measured,)."""
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
# Between processes of one node nothing travels: bytes are copied through the system's memory, and all ranks share it, and the cores. So 1/β is a *copy limit*, not a network's bandwidth: each byte of a message is copied into the system and out of it again, besides being added. How far that is from one plain copy, the picture shows. And the plain way is often faster here.
# The ring divides rank 0's work among all ranks, which helps where each rank has cores of its own: on a cluster, where it also has its own part of the network. Here the ranks take turns on the few cores that there are.
# Horovod adds the time until all ranks agree on what to send: it looks once in a cycle, of a millisecond by default, and on shared cores each look waits its turn, too.
#
# ### Which algorithm, when?
#
# *Recursive doubling*, the stretch of section 2, takes log₂(N) steps, each with the whole array:
#
# $$T_\text{doubling} = \log_2(N) \left(\alpha + n\beta\right)$$
#
# **Exercise (1 point).** Write `crossover`: the number of bytes n, on N ranks (a power of two from 4 on), at which both take equally long. Above it the ring is faster.
#
# <details><summary>Hint</summary>
#
# Set both times equal and solve for n: the difference of the steps, times α, divided by the difference of the bytes' factors, times β.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Compute it with α = 10 microseconds and 10 GB/s for N = 8 and for N = 512. Which of the gradients of ResNet-50 (the largest has 9 MB, most have a few kB) should go which way?
#
# </details>


# %% role="answer" id="crossover"
def crossover(num_ranks, alpha, beta):
    """Return the number of bytes from which on the ring is faster than recursive doubling."""
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
# A sum of floating-point numbers depends on the order. The plain way adds rank after rank; on the ring each chunk begins with another rank; NCCL picks another algorithm when the array is larger; and two ranks, each of which has summed up twice as many samples, put their brackets elsewhere. So the same gradients give sums that differ in their last bits. (From three ranks on: two ranks make one addition, which has one result.)


# %% role="readonly" id="differ" tags=["picture"]
def add_up():
    """Return the sum of the same gradients by three algorithms, and this rank's own."""
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
# So a test must not ask for `==`. But a fixed tolerance is no good either: 1e-6 is large for gradients of 1e-9, where a whole part may be missing, and too small for gradients of a million.
# And where parts cancel, even the relative error of the sum is large, although nobody made a mistake.
#
# What rounding can do is known: the result of each addition is off by at most ε/2 of itself, where ε is `np.finfo(dtype).eps`. So a sum of N parts is off by less than N ε/2 Σ|part|, and two such sums differ by less than N ε Σ|part|: a number for each *place* of the array.
#
# **Exercise (2 points).** Write `same_sum`: whether `first` and `second`, both of shape `(n,)`, can both be sums of the same `parts`, shape `(num_ranks, n)`, in whatever order. A NaN is no sum.
#
# <details><summary>Hint</summary>
#
# `np.abs(parts).sum(axis=0)` is Σ|part| for each place. Compare with `<=`, which a NaN never fulfils, and use `np.all`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add up in float64 and round once: is the sum then the same in every order? Try it with the gradients above, then with `parts` that cancel.
#
# </details>


# %% role="answer" id="same-sum"
def same_sum(first, second, parts):
    """Return whether two sums of the same parts differ by no more than rounding can make them."""
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
# A network has many gradients, most of them small, and each allreduce pays its latencies and the agreement of all ranks. So Horovod collects what is ready within a cycle, copies it into one buffer (`HOROVOD_FUSION_THRESHOLD`, 128 MB by default), and sends that: *tensor fusion*.
# That can only happen when tensors are handed over together: in a `tf.function`, as Keras' `fit` has it. Called one after the other, each waits for the last one's end.
# Two settings decide what travels together. Horovod collects for a *cycle* (`HOROVOD_CYCLE_TIME`, 1 ms by default): what is handed over too late takes the next one, and what is early waits. And `hvd.grouped_allreduce` says that its tensors belong together, so that Horovod waits for all of them, in a graph or not.
#
# Horovod's *timeline* tells: with `HOROVOD_TIMELINE`, rank 0 writes down what happens to each tensor. `reductions` reads from it when each was on the wire.


# %% role="readonly" id="wire-picture" tags=["picture"]
def hand_over(way):
    """Average many small tensors twice, in one of three ways; return the seconds of the second time on this rank."""
    hvd.init()
    tensors = [tf.ones(1000) * number for number in range(num_tensors)]

    def average():
        return [hvd.allreduce(tensor, name=f"gradient-{number}") for number, tensor in enumerate(tensors)]

    if way == "grouped":
        average = lambda: hvd.grouped_allreduce(tensors)
    elif way == "in a graph":
        average = tf.function(average).get_concrete_function()
    time.sleep(0.2)  # the thread that writes the timeline begins late, and ends without a last look
    average()  # what a first time takes, and ranks that come late, are not the subject
    begin = time.perf_counter()
    average()
    seconds = time.perf_counter() - begin
    time.sleep(0.2)
    hvd.shutdown()  # the timeline is written to its end
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
# Tensors that travel in one buffer are on the wire at the same time, in the timeline to within some microseconds; others come one after the other.
#
# **Exercise (2 points).** Write `num_on_wire`: from the intervals of a timeline, pairs of begin and end in any order, how many operations there were. Intervals that overlap belong to one; one that begins when another ends begins a new operation. A timeline may be empty.
#
# <details><summary>Hint</summary>
#
# Go through `sorted(intervals)` and remember the latest end so far. An interval that begins at or after it begins a new operation.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Run `hand_over("in a graph")` with a `HOROVOD_FUSION_THRESHOLD` of 20000 bytes: how many operations? And with cycles of 5 and of 100 ms: what does a long cycle cost, and when is it worth that?
#
# </details>


# %% role="answer" id="num-on-wire"
def num_on_wire(intervals):
    """Return the number of operations to which intervals on the wire belong."""
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
# Half the bits are half the bytes, and GPUs compute with them several times as fast. But float16 ends at 65504, and what is smaller than 3e-8 becomes zero. Which of your gradients would survive? Here are those of a network that has learned the digits of lab 05 for eight epochs, most of which are small by now.

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
# *Loss scaling*: multiply the loss, and with it every gradient, by a large number before the backward pass, and divide the gradients by it once they are in 32 bits again. A power of two changes no digit.
#
# **Exercise (1 point).** Write `lost_share`: of the gradients that are not zero, the share that float16 turns into zero or infinity, after they were multiplied by `scale`.
#
# <details><summary>Hint</summary>
#
# `(gradients * scale).astype(np.float16)`; then ask where the result is 0 or `np.isinf` although the gradient is not 0. NumPy warns of overflows: `with np.errstate(over="ignore"):`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# bfloat16 has the range of float32 and only 8 bits of precision (`tf.cast(…, tf.bfloat16)`). Which share does it lose? And what is then lost instead?
#
# </details>


# %% role="answer" id="lost-share"
def lost_share(gradients, scale):
    """Return which share of the gradients that are not zero 16 bits turn into zero or infinity."""
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
# Which scale is right changes during training. So it is *dynamic*: when a gradient overflows, the step is left out and the scale is halved; after `growth_steps` good steps in a row it is doubled, and counting begins again.
#
# **Exercise (2 points).** Write `next_scale`: it gets the scale, the number of good steps since it changed or a step overflowed, and whether this step's gradients were all finite.
# It returns the scale and the number for the next step.
#
# <details><summary>Hint</summary>
#
# After an overflow `scale / 2, 0`. After a good step that makes the number reach `growth_steps`, `2 * scale, 0`; else the number is one more.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# With 2000 good steps between two doublings, which share of the steps is left out in the long run? Try 20 and 20000, too.
#
# </details>


# %% role="answer" id="next-scale"
def next_scale(scale, num_good, is_finite, growth_steps):
    """Return the loss scale and the number of good steps in a row after a step."""
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
# If one rank's gradients overflow and another's do not, both must leave out the step, or their weights differ from then on. So the order is **average, unscale, check**: an infinity or a NaN of any rank is in the average of all ranks, all see it, and all decide alike. Checked before averaging, each rank would decide for itself.
# The weights stay in 32 bits (*master weights*): in float16, 1 + 0.0004 is 1, and a small step would change nothing.
#
# **Exercise (2 points).** Write `mean_gradients`. It gets this rank's gradients, a list of float16 tensors that are scaled. On every rank it returns the list of their means over all ranks, in float32 and without the scale; or `None` on every rank, when any number of any rank is not finite.
#
# <details><summary>Hint</summary>
#
# For each gradient `hvd.allreduce(tf.cast(gradient, tf.float32), op=hvd.Average) / scale`; then `tf.reduce_all(tf.math.is_finite(mean))` of each mean.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Let `hvd.allreduce` have `compression=hvd.Compression.fp16`: it casts to 16 bits, averages, and casts back. Is that the same as your function on scaled gradients, and on gradients that are not scaled?
#
# </details>


# %% role="answer" id="mean-gradients"
def mean_gradients(gradients, scale):
    """Return the means over all ranks in 32 bits, without the scale, or None on all ranks after any overflow."""
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
# Somebody sets Keras' policy `mixed_float16` and nothing else, and trains with Horovod as before. How many bytes do the gradients' allreduces move?
#
# - [ ] Half as many as before, since all is computed in 16 bits.
#   Layers compute in 16 bits, but their variables are in 32 bits, and a gradient has the type of its variable.
# - [x] As many as before: the gradients of float32 variables are float32.
#   Only `compression=hvd.Compression.fp16`, or a cast of your own, halves what travels.
# - [ ] Twice as many, since the scale is sent along with each number.
#   The scale is one number, the same on all ranks, and is not sent at all.

# %% [markdown] role="readonly" id="less-text"
# ## 7. At home: talk less, at a better time, or not all
#
# This section takes about 7 minutes, which are not among those of the lab.
#
# Three ways to train the network of section 6 with less to send, and what Horovod's timeline says that they send:
#
# - *Accumulation*: add up the gradients of several batches on the rank and average once (`backward_passes_per_step` of `hvd.DistributedOptimizer`). Half as many messages, and a batch twice as large: what a larger batch costs is the subject of lab 02.
# - Keras' policy `mixed_float16`: the quiz above has told what becomes of its bytes.
# - `compression=hvd.Compression.fp16`: gradients become float16 for the journey.


# %% role="readonly" id="less-runs" tags=["picture"]
def train(num_units=128, num_hidden=1, batch_size=16, policy="float32", num_batches=12, **options):
    """Train a network on this rank's digits for some batches, and return the loss; options are those of Horovod."""
    tf.get_logger().setLevel("ERROR")  # TensorFlow warns that this machine has no unit for 16 bits
    hvd_keras.init()
    tf.keras.mixed_precision.set_global_policy(policy)
    tf.keras.utils.set_random_seed(seed)
    hidden = [tf.keras.layers.Dense(num_units, activation="relu") for _ in range(num_hidden)]
    one = tf.keras.Sequential([tf.keras.layers.Flatten(), *hidden, tf.keras.layers.Dense(10, dtype="float32")])
    one.compile(hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(0.05), **options), loss)
    mine = slice(hvd_keras.rank(), hvd_keras.size() * batch_size * num_batches, hvd_keras.size())
    time.sleep(0.2)  # the thread that writes the timeline begins late, and ends without a last look
    history = one.fit(images[mine], labels[mine], batch_size=batch_size, verbose=0)
    time.sleep(0.2)
    hvd_keras.shutdown()
    return history.history["loss"][0]


def timeline_of(num_ranks=num_ranks, cycle_ms="1", **options):
    """Train on so many ranks, and return the loss and the reductions of Horovod's timeline."""
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
# *Overlap*: the backward pass begins at the last layer, so its gradient is ready first, and can travel while the others are still computed. Here is the middle one of six steps of a wider network with four hidden layers on two ranks, from the timeline of your own run; Horovod looks for gradients ten times as often as by default, since the layers are small. How much overlaps differs from run to run where ranks share cores: run the cell again.

# %% role="readonly" id="overlap-picture" tags=["picture"]
_, sent = timeline_of(num_ranks=2, cycle_ms="0.1", num_units=768, num_hidden=4, batch_size=128, num_batches=6)
steps = [sent[first : first + 10] for first in range(0, len(sent), 10)]  # weights and bias of five layers
steps.sort(key=lambda step: max(one.ready_us for one in step) - min(one.ready_us for one in step))
pictures.show_overlap(steps[len(steps) // 2])

# %% [markdown] role="readonly" id="groups-text"
# Two more things to know by name:
#
# - `hvd.join()`: a rank that has no more batches takes part with zeros until the last one is done. It returns who that was. The average still divides by all ranks.
# - *Process sets*: groups of ranks that talk for themselves. Here one half averages its gradients, and the other, which validates meanwhile, its losses.


# %% role="readonly" id="groups" tags=["picture"]
def groups():
    """Average in a group that trains and in one that validates, then let ranks end one after the other."""
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
# - You write an allreduce, and know what every rank sends in each of its steps.
# - You fit α and β to measurements, and choose the algorithm by them.
# - You compare sums by what rounding can do, in each place.
# - You read from a timeline whether tensors travel together, how many bytes they have, and what overlaps.
# - You know what 16 bits lose, and scale a loss in step on all ranks.
#
# **Further reading**
#
# - [Bringing HPC techniques to deep learning](https://andrew.gibiansky.com/blog/machine-learning/baidu-allreduce/): the ring that made data-parallel training common.
# - [Optimization of collective communication operations in MPICH](https://doi.org/10.1177/1094342005051521): rings, doubling and halving, and when each is fastest.
# - [Mixed precision training](https://arxiv.org/abs/1710.03740): histograms of gradients, loss scaling and master weights.
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have its mark.

# %% role="readonly" id="report"
hand_in_report()

# %% [markdown] role="readonly" id="intro"
# # Lab 05: Feed the ranks
#
# **90 minutes, 20 points, two or more ranks.**
# A GPU that waits for data computes nothing. You write and read TFRecord files, build pipelines in which every rank has its share, put their operations into the right order, and make a slow one fast.
# At the end a small network learns digits on all ranks, and you read its logs in TensorBoard.
#
# After this lab you can
#
# - write TFRecord files, read them back, and find out which are damaged;
# - build pipelines from files and from generators in which every rank has its share;
# - put shard, cache, shuffle, batch and prefetch into the right order, and measure that it is right;
# - let all ranks make the same number of steps, on the same samples whatever their number;
# - find the slowest stage of a pipeline on a timeline, and speed it up;
# - read a training on several ranks in TensorBoard.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` by your answer.
# The cell after each exercise checks your answer and names the property that is missing; run it as often as you like.
# Where a later section needs an answer, *Stuck?* above its cell takes it from the solution, without the points. Quizzes and *Stretch* give no points.
# In grading, a cell that takes longer than 60 s is stopped; what it has defined until then counts.
# `AGENTS.md` tells an AI assistant how to help you here: it explains and asks back, and writes no answers.

# %% [markdown] role="readonly" id="parameters-text"
# The numbers of this run. To change them, edit here, or run the notebook with `coursekit execute 05 -p num_ranks 4 -p num_images 6000`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
num_images = 1600  # synthetic digits
batch_size = 40  # images per rank and step
learning_rate = 0.02  # of one rank
num_epochs = 3
folder = "digits"  # files and logs
num_threads = 1  # of each rank; 0: as many as TensorFlow likes
time_limit_min = 5  # after which a training on ranks is ended
seed = 1

# %% role="readonly" id="imports" tags=["script"]
import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # else TensorFlow greets us with a page of messages

# %% role="readonly" id="notebook-imports"
import time

from coursekit import ranks

ranks.warm_up()  # starts importing TensorFlow and Horovod for the ranks while this process does the same

# %% role="readonly" id="library-imports" tags=["script"]
import shutil
from pathlib import Path

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf

from coursekit.imagenet.digits import make_digits
from coursekit.ranks.horovod_build import spare_horovod

# %% role="readonly" id="checks-imports"
from coursekit.checks import check, hand_in_report, lab05_feeding, lab05_records, lab05_training
from coursekit.imagenet.store import SlowStore, feed_slowly
from coursekit.pictures import feeding as feeding_pictures
from coursekit.pictures import tensorboard

# GPUs are for the ranks: in this process TensorFlow would take all memory of one.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="records-text"
# ## 1. Records (18 minutes)
#
# A file per image is what a parallel file system likes least: each opening asks a metadata server that thousands of processes share.
# A *TFRecord* file holds thousands of samples in a row and is read from front to back. Each *record* is a string of bytes with its length and two checksums;
# what is in the string is your business, usually a `tf.train.Example`: a dictionary whose values are lists of bytes, of floats, or of whole numbers.
#
# The samples of this lab are synthetic digits in MNIST's form, 28 x 28 grey levels in ten classes.

# %% role="readonly" id="digits-picture" tags=["picture"]
feeding_pictures.show_digits(*make_digits(12, seed))

# %% [markdown] role="readonly" id="write-text"
# **Exercise (1 point).** Write `write_records`: one record for each image, with the features `image`, the bytes of its pixels (`image.tobytes()`), and `label`, a whole number.
#
# <details><summary>Hint</summary>
#
# `tf.train.Example(features=tf.train.Features(feature={…}))` takes for each name a `tf.train.Feature`, made with `bytes_list=tf.train.BytesList(value=[…])` or `int64_list=tf.train.Int64List(value=[…])`.
# `with tf.io.TFRecordWriter(str(path)) as writer:` opens the file, `writer.write(example.SerializeToString())` writes.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write the pixels as a list of floats instead, and compare the sizes of the files. `tf.io.TFRecordOptions("GZIP")` makes them smaller: what does reading them cost?
#
# </details>


# %% role="answer" id="write-records" tags=["script"]
def write_records(path, images, labels):
    """Write a TFRecord file with a record for each image and its label."""
    # about 7 lines
    ### BEGIN SOLUTION
    with tf.io.TFRecordWriter(str(path)) as writer:
        for image, label in zip(images, labels):
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    ### END SOLUTION


# %% role="tests" id="write-tests" points=1
with check("records written", section="1"):
    lab05_records.check_written(write_records)

# %% [markdown] role="readonly" id="parse-text"
# ### And back
#
# Reading undoes all that: parse the `Example`, turn bytes into numbers, give them their shape. Each operation that TensorFlow calls has a price, whatever it works on; called for a *batch* of records at once, it is paid once.
# Such a *vectorised* map is much cheaper than one that comes before the batch.
#
# **Exercise (1 point).** Write `parse_batch`. It gets a batch of records, a tensor of strings of shape `(n,)`.
# It returns the images, float32 of shape `(n, 28, 28)` with pixels from 0 to 1, and the labels, shape `(n,)`.
#
# <details><summary>Hint</summary>
#
# `tf.io.parse_example(batch, {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)})` returns a dictionary of tensors.
# `tf.io.decode_raw(strings, tf.uint8)` makes a row of numbers of each string; then `tf.reshape`, `tf.cast`, and the range.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Parse single records with `tf.io.parse_single_example` before the batch instead, and measure both with 10 000 records.
#
# </details>


# %% role="answer" id="parse-batch" tags=["script"]
def parse_batch(batch):
    """Return the images and labels of a batch of records."""
    # about 5 lines
    ### BEGIN SOLUTION
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
    found = tf.io.parse_example(batch, features)
    pixels = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), (-1, 28, 28))
    return tf.cast(pixels, tf.float32) / 255, found["label"]
    ### END SOLUTION


# %% role="tests" id="parse-tests" points=1
with check("records parsed", section="1"):
    lab05_records.check_parsed(parse_batch)
    ### BEGIN HIDDEN TESTS
    lab05_records.check_parsed(parse_batch, num_images=1)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="lost-text"
# ### Damaged files
#
# A copy that broke off, a disk that flipped a bit: the checksums tell, and `tf.data.TFRecordDataset(file)` ends with a `DataLossError`. `dataset.ignore_errors()` goes on without an error,
# but *not* with the next record: a reader that cannot trust a record does not know where the next one begins. All that comes after the damage in that file is lost, without a message.
#
# A file that was cut just between two records is not even an error. Only who knows how many there should be can tell.
#
# **Exercise (1 point).** Write `count_lost`: for each of the files, of which you know how many records it should have, how many `tf.data` does not deliver.
#
# <details><summary>Hint</summary>
#
# A data set for each file; count what comes out of it with `ignore_errors()`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A record is its length (8 bytes), a checksum of that (4), the data, and the checksum of the data (4). Read on after damaged data with Python alone. When does nobody know where the next record begins?
#
# </details>


# %% role="answer" id="count-lost"
def count_lost(files, num_expected):
    """Return for each file how many of its records are lost, a list; files[i] should have num_expected[i]."""
    # about 2 lines
    ### BEGIN SOLUTION
    found = [sum(1 for _ in tf.data.TFRecordDataset(file).ignore_errors()) for file in files]
    return [expected - num_found for expected, num_found in zip(num_expected, found)]
    ### END SOLUTION


# %% role="tests" id="lost-tests" points=1
with check("damaged files", section="1"):
    lab05_records.check_lost(count_lost)

# %% [markdown] role="readonly" id="files-text"
# ## 2. Two sources (13 minutes)
#
# Arrays that fit into memory are a source in one line, `tf.data.Dataset.from_tensor_slices((images, labels))`. They are a bad source for large data: in a `tf.function` they become constants of the graph.
#
# ### Files
#
# With N ranks, *shard the list of files*: each rank opens its own, and each byte is read once. `interleave` then reads from several files at once:
# neighbours in a batch come from different files, and the rank can wait for several files at the same time.
#
# **Exercise (2 points).** Write `from_files`: this rank's batches of images and labels, once through its files, in batches of `batch_size` of which only the last may be smaller.
# In this order: the rank's share of the list, interleave, batch, parse, prefetch.
#
# <details><summary>Hint</summary>
#
# `files` is a list: a slice with a step takes a rank's share. `tf.data.Dataset.from_tensor_slices(…)` makes a data set of names from it.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)` reads four of the files at a time; `parse_batch` is for batches, so it comes behind `batch`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Give `interleave` a `block_length=3`, then `deterministic=False`, and run it several times: when does the order change, and what would a comparison of two trainings be worth?
#
# </details>


# %% role="answer" id="from-files" tags=["script"]
def from_files(files, batch_size):
    """Return this rank's batches of images and labels, once through its files."""
    # about 4 lines
    ### BEGIN SOLUTION
    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
    batches = found.batch(batch_size).map(parse_batch, num_parallel_calls=tf.data.AUTOTUNE)
    return batches.prefetch(tf.data.AUTOTUNE)
    ### END SOLUTION


# %% role="readonly" id="files-trial"
files_trial = lab05_feeding.try_files(from_files, num_ranks=3)
print(files_trial.error or "The pipeline ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="files-tests" points=1
with check("shards of files", section="2"):
    lab05_feeding.check_files(files_trial)
    ### BEGIN HIDDEN TESTS
    lab05_feeding.check_files(lab05_feeding.try_files(from_files, num_ranks=4))
    ### END HIDDEN TESTS

# %% role="tests" id="interleave-tests" points=1
with check("interleaved files", section="2"):
    lab05_feeding.check_interleaved(files_trial)

# %% [markdown] role="readonly" id="generator-text"
# ### A generator
#
# Some samples are computed, or come from a library that TensorFlow does not know. `from_generator` calls a Python *function* at the start of every epoch and takes what it yields.
# (A generator that has begun already is used up after one epoch: pass the function, not its result.)
# TensorFlow needs to know before what comes: `output_signature` says type and shape.
#
# `dataset.shard` behind a generator would let every rank compute *all* samples and throw most of them away. So the share is taken inside.
#
# **Exercise (2 points).** Write `from_generator`. `draw(number)` makes the sample `number` and returns its image, float32 of shape `(28, 28)`, and its label; there are `num_samples`.
# Return a data set of this rank's samples, one by one, that draws no others.
#
# <details><summary>Hint</summary>
#
# A function inside of the function, without arguments, which yields. Which numbers does this rank draw, and which are those of the other ranks?
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `range(hvd.rank(), num_samples, hvd.size())` are the numbers of this rank. The signature is a tuple of two `tf.TensorSpec(shape, type)`, the label's shape is `()`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A generator runs under Python's lock, one thread at a time. Make a data set of numbers instead, and draw in a `map` with `tf.numpy_function` and `num_parallel_calls`: for which kind of `draw` is that faster?
#
# </details>


# %% role="answer" id="from-generator"
def from_generator(draw, num_samples):
    """Return a data set of this rank's share of the samples that `draw` makes."""

    # about 6 lines
    ### BEGIN SOLUTION
    def mine():
        for number in range(hvd.rank(), num_samples, hvd.size()):
            yield draw(number)

    signature = tf.TensorSpec((28, 28), tf.float32), tf.TensorSpec((), tf.int64)
    return tf.data.Dataset.from_generator(mine, output_signature=signature)
    ### END SOLUTION


# %% role="readonly" id="generator-trial"
generator_trial = lab05_feeding.try_generator(from_generator, num_ranks=3)
print(generator_trial.error or "The generator ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="generator-tests" points=1
with check("samples of a generator", section="2"):
    lab05_feeding.check_generated(generator_trial)

# %% role="tests" id="drawn-tests" points=1
with check("a generator's shards", section="2"):
    lab05_feeding.check_drawn(generator_trial)
    ### BEGIN HIDDEN TESTS
    lab05_feeding.check_drawn(lab05_feeding.try_generator(from_generator, num_ranks=2))
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="order-text"
# ## 3. Before or after? (12 minutes)
#
# The same operations in another order are another pipeline. Here are six on two ranks, each run for two epochs: which samples reach which rank, in which batch? A frame marks a sample that comes more than once in an epoch; those of the row *no rank* are missing in it. Look before you read on.


# %% role="readonly" id="order-picture" tags=["picture"]
def decode(number):
    """Take longer for some samples than for others."""
    time.sleep(0.01 * (1 + 7 * number % 5))
    return number


def try_orders():
    """Return what reaches this rank in two epochs, by pipeline."""
    hvd.init()
    numbers, mine = tf.data.Dataset.range(12), (hvd.size(), hvd.rank())
    hurry = tf.data.Options()
    hurry.deterministic = False
    hurry.threading.private_threadpool_size = 4
    decoded = numbers.shard(*mine).map(lambda one: tf.numpy_function(decode, [one], tf.int64), num_parallel_calls=4)
    decoded = decoded.with_options(hurry)
    pipelines = {
        "shuffle, shard, batch; each rank shuffles for itself": numbers.shuffle(12).shard(*mine).batch(3),
        "batch, shard, shuffle": numbers.batch(3).shard(*mine).shuffle(4),
        "shard, shuffle, cache, batch": numbers.shard(*mine).shuffle(12).cache().batch(3),
        "shard, repeat, shuffle, batch": numbers.shard(*mine).repeat(2).shuffle(24).batch(3),
        "shard, map on four threads, batch, not deterministic": decoded.batch(3),
        "shard, cache, shuffle, batch": numbers.shard(*mine).cache().shuffle(12).batch(3),
    }
    num_epochs = {name: 1 if "repeat" in name else 2 for name in pipelines}
    return {
        name: [batch.tolist() for _ in range(num_epochs[name]) for batch in dataset.as_numpy_iterator()]
        for name, dataset in pipelines.items()
    }


seen = ranks.run(try_orders, num_ranks=2, seed=seed)
feeding_pictures.show_order({name: [of_rank[name] for of_rank in seen] for name in seen[0]}, 12, num_epochs=2)

# %% [markdown] role="readonly" id="order-exercise-text"
# - *Shuffled before sharding* by ranks that do not agree on the order, some samples reach both ranks and others none.
# - *Batched before shuffling*, the same samples stay together for ever.
# - *Cached after shuffling*, the first order is frozen: the second epoch is the first.
# - *Repeated before shuffling*, epochs run into each other: a sample comes twice before another came once.
# - *Not deterministic* (`tf.data.Options`, or the argument `deterministic=False` of `map` and `interleave`), what is ready first comes first. That spares waiting, and no seed repeats the order; what is cached behind it is in the order of one epoch.
# - And what is expensive, loading and decoding, belongs *behind the shard and before the cache*: once for each sample, on one rank. What is drawn at random for every epoch, such as crops, belongs behind the cache.
#
# **Exercise (3 points).** Write `feed`. It gets a data set of all sample numbers, a function `load` that turns a number into an image and is expensive, and the batch size.
# Return one epoch for this rank; each time it is gone through is the next epoch, in another order.
# Every sample is loaded once, however many epochs there are, and the cache is in memory.
#
# <details><summary>Hint</summary>
#
# Six methods of a data set, one after the other. For each pair ask the list above: what goes wrong if the second comes first?
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `cache()` comes directly behind what is expensive, and in front of what is drawn again in each epoch. The shuffle's buffer should hold all of a rank's samples.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Shuffle with a buffer of 4 samples only, and draw for many epochs how far a sample moves from its place in the files. What does that mean for files that are sorted by class?
#
# </details>


# %% role="answer" id="feed"
def feed(dataset, load, batch_size):
    """Return an epoch of this rank's batches: its share, each sample loaded once, in a new order every time."""
    # about 4 lines
    ### BEGIN SOLUTION
    mine = dataset.shard(hvd.size(), hvd.rank())
    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
    shuffled = loaded.shuffle(1000, seed=seed)
    return shuffled.batch(batch_size).prefetch(tf.data.AUTOTUNE)
    ### END SOLUTION


# %% role="readonly" id="feed-trial"
feed_trial = lab05_feeding.try_feed(feed, num_ranks=3)
print(feed_trial.error or "The pipeline ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="feed-shards-tests" points=1
with check("shards of samples", section="3"):
    lab05_feeding.check_fed_shards(feed_trial)
    ### BEGIN HIDDEN TESTS
    lab05_feeding.check_fed_shards(lab05_feeding.try_feed(feed, num_ranks=2))
    ### END HIDDEN TESTS

# %% role="tests" id="loaded-tests" points=1
with check("loaded once", section="3"):
    lab05_feeding.check_loaded_once(feed_trial)

# %% role="tests" id="feed-order-tests" points=1
with check("a new order in every epoch", section="3"):
    lab05_feeding.check_fed_order(feed_trial)

# %% [markdown] role="quiz" id="shuffle-quiz"
# On four ranks somebody writes `dataset.shuffle(10_000, seed=rank).shard(4, rank)`: shuffled first, each rank with a seed of its own. What happens to the training?
#
# - [ ] It stops with an error, since the shards overlap.
#   Nobody compares the shards: each rank knows its own numbers only, and no error is raised.
# - [ ] Nothing. Each rank still gets a quarter of the samples, and they are well shuffled.
#   Each rank gets a quarter, but a quarter of another order: the four quarters are not disjoint.
# - [x] It runs, and in each epoch about a third of the samples is used by no rank.
#   A sample is missed by all four with the probability (3/4) to the power of 4, 32 percent, and others are used by several ranks. No loss curve shows it.

# %% [markdown] role="readonly" id="global-text"
# ## 4. In step (18 minutes)
#
# ### The same samples, whatever the number of ranks
#
# A training on 4 ranks can be compared with one on 2 only if each step uses the same samples. So let *all* ranks shuffle alike, with one seed, cut that order into *global* batches, and let each rank take its part of each.
# That needs an order that all agree on, so it is done with *numbers* of samples, which cost nothing, before anything is loaded.
#
# **Exercise (2 points).** Write `global_batches`: a data set in which every element is this rank's part of a global batch of `global_batch_size` out of the numbers 0 to `num_samples - 1`.
# TensorFlow's order follows from *two* seeds, that of the operation, `shuffle(…, seed=seed)`, and the global one, `tf.random.set_seed(seed)`. Ranks of a notebook have different global seeds: set it, too.
# The parts of the ranks are disjoint, together they are the global batch, and their sizes differ by one at the most. A last global batch that is not full is left out. Every epoch has another order, the same on all ranks.
#
# <details><summary>Hint</summary>
#
# `tf.data.Dataset.range(num_samples)`, shuffle with a buffer for all of them and the seed given, `batch(…, drop_remainder=True)`, and a `map` that takes a slice with a step.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# With 12 samples on 5 ranks the parts have 3 or 2 samples. Is the mean of the ranks' gradients still the gradient of the global batch? Compute it for a loss of your own.
#
# </details>


# %% role="answer" id="global-batches"
def global_batches(num_samples, global_batch_size, seed):
    """Return this rank's sample numbers of every step; all ranks together take one global batch."""
    # about 4 lines
    ### BEGIN SOLUTION
    tf.random.set_seed(seed)
    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed)
    batches = numbers.batch(global_batch_size, drop_remainder=True)
    return batches.map(lambda batch: batch[hvd.rank() :: hvd.size()])
    ### END SOLUTION


# %% role="tests" id="global-tests" points=2
with check("the same samples on any number of ranks", section="4"):
    lab05_training.check_global_batches(global_batches, all_num_ranks=[1, 2, 3])
    ### BEGIN HIDDEN TESTS
    lab05_training.check_global_batches(global_batches, all_num_ranks=[1, 4])
    ### END HIDDEN TESTS


# %% role="readonly" id="global-picture" tags=["picture"]
def try_global_batches():
    hvd.init()
    return [np.ravel(batch).tolist() for batch in global_batches(18, 6, seed).as_numpy_iterator()]


feeding_pictures.show_order(
    {f"world size {count}": ranks.run(try_global_batches, num_ranks=count) for count in (1, 2, 3)}, 18
)
print("The first batches of all ranks together are the same six samples in each world size,")
print("and so are the next ones.")

# %% [markdown] role="readonly" id="steps-text"
# ### The same number of steps
#
# Files hold different numbers of samples, so ranks that read files have unequal shares. The rank that runs out first stops, the others wait for its gradients in `hvd.allreduce`, for ever.
# Two ways out: all stop with the one that has the fewest, and samples are lost; or all go on to the end of the one that has the most, and the others *begin again*. (`hvd.join()` is a third: a rank that is done takes part with zeros.)
#
# How many samples a rank has, only it knows. So the ranks have to tell each other.
#
# **Exercise (2 points).** Write `equal_steps`: this rank's samples in full batches, as many on every rank as the rank with the most samples needs for all of its own. Every sample of a rank comes once before any comes again.
#
# <details><summary>Hint</summary>
#
# `dataset.cardinality()` does not know how many records files hold; count them: `sum(1 for _ in dataset)`. `hvd.allgather_object(number)` returns the numbers of all ranks, in a list. Then `repeat`, `batch`, `take`, in this order.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Let all stop with the rank that has the fewest instead, and choose the files of a rank such that little is lost: which share of the samples does each way lose or repeat with the eight files of section 7 on 3 ranks?
#
# </details>


# %% role="answer" id="equal-steps" tags=["script"]
def equal_steps(dataset, batch_size):
    """Return batches of this rank's samples, as many as the rank with the most samples needs."""
    # about 4 lines
    ### BEGIN SOLUTION
    num_mine = sum(1 for _ in dataset)
    num_most = max(hvd.allgather_object(num_mine))
    num_steps = -(-num_most // batch_size)  # rounded up
    return dataset.repeat().batch(batch_size).take(num_steps)
    ### END SOLUTION


# %% role="tests" id="steps-tests" points=2
with check("equal steps", section="4"):
    lab05_training.check_equal_steps(equal_steps, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab05_training.check_equal_steps(equal_steps, num_ranks=4)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="cache-text"
# ## 5. A cache on the node (6 minutes)
#
# What does not fit into memory can be cached in files: `dataset.cache(path)` writes them in the first epoch and reads them in all later ones. On fast storage of the node, an NVMe disk or a RAM disk, that takes the load off the shared file system.
#
# Two ranks with *one* path destroy each other's work. At the same time, one finds the other's lock file and ends with an `AlreadyExistsError`. One after the other is worse: the second finds a finished cache,
# believes that it is its own, and trains on the first one's samples without a word. The same happens to tomorrow's job with different data, so `folder` should be new for each job, such as one with the job's number in its name.
#
# **Exercise (1 point).** Write `cached`: the same samples, cached in files in `folder` (a `Path`, on the node), which all ranks of the node use.
#
# <details><summary>Hint</summary>
#
# `dataset.cache(…)` takes a text, in which a rank's number makes the name its own.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Go through only half of a data set with a file cache, then through all of it. Which files are there after each, and is the second time read from them? That happens with `take` behind the cache.
#
# </details>


# %% role="answer" id="cached"
def cached(dataset, folder):
    """Return the data set with a cache in files of this rank's own."""
    # about 1 line
    ### BEGIN SOLUTION
    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
    ### END SOLUTION


# %% role="tests" id="cache-tests" points=1
with check("a cache for each rank", section="5"):
    lab05_feeding.check_cached(cached, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab05_feeding.check_cached(cached, num_ranks=4)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="store-text"
# ## 6. Who waits for whom? (12 minutes)
#
# A pipeline has stages: *read*, *decode*, *train*. Without overlap a step takes as long as all of them together. With overlap it takes as long as the *slowest* one:
#
# time per step ≥ max(read, decode, train)
#
# So look for the slowest stage, speed it up, and look again, until the network is what everything waits for.
#
# Here is a store that is slow by design and sleeps instead of working, so that it is as slow on every machine: 30 ms to read a record, 30 ms for each *call* of `decode`, which may get one record or a whole batch, and 40 ms for a training step.
# `feed_slowly` is the plainest pipeline:
#
# ```python
# def feed_slowly(store, batch_size):
#     files = tf.data.Dataset.from_tensor_slices(store.files)
#     images = files.flat_map(store.read).map(store.decode)
#     return images.batch(batch_size)
# ```

# %% role="readonly" id="slow-picture" tags=["picture"]
store_images, _ = make_digits(40, seed)
slow = SlowStore(store_images)
slow.train(feed_slowly(slow, 8))
feeding_pictures.show_timeline({"feed_slowly": slow})

# %% [markdown] role="readonly" id="store-exercise-text"
# **Exercise (2 points).** Write `feed_fast`, with the same images in batches of the same size, at least 2.7 times as fast. (Training alone leaves room for more than 10 times.) Four remedies, each for one stage:
#
# - `interleave(store.read, cycle_length=…, num_parallel_calls=…)` waits for several files at the same time. Give it the number of files, eight: left to itself it follows the number of cores, and who waits needs no core;
# - `map(…, num_parallel_calls=…)` decodes several at the same time;
# - `batch` *before* the map pays for one call instead of eight: the vectorised map of section 1;
# - `prefetch` at the end makes the next batches while the network works on this one.
#
# <details><summary>Hint</summary>
#
# Start from `feed_slowly`, and change one thing at a time. The cell that draws the timeline says how much faster each change makes it.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `store.decode` takes a whole batch as well as one record. `flat_map` reads one file after the other, `interleave` several.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Make a `SlowStore(store_images, train_s=0.2)`: which of the four remedies are still worth their line? Compute the bound first.
#
# </details>


# %% role="answer" id="feed-fast"
def feed_fast(store, batch_size):
    """Return batches of the store's images, read and decoded while others are waited for."""
    # about 4 lines
    ### BEGIN SOLUTION
    files = tf.data.Dataset.from_tensor_slices(store.files)
    found = files.interleave(store.read, cycle_length=8, num_parallel_calls=8)
    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
    return decoded.prefetch(tf.data.AUTOTUNE)
    ### END SOLUTION


# %% role="readonly" id="store-trial"
store_trial = lab05_records.try_store(feed_fast)
print(store_trial.error or "Both pipelines ran; now the checks.")

# %% role="tests" id="samples-tests" points=1
with check("the same samples from the store", section="6"):
    lab05_records.check_same_samples(store_trial)

# %% role="tests" id="faster-tests" points=1
with check("the slowest stage made faster", section="6"):
    lab05_records.check_faster(store_trial)

# %% role="readonly" id="timeline-picture" tags=["picture"]
fast = SlowStore(store_images)
fast.train(feed_fast(fast, 8))
feeding_pictures.show_timeline({"feed_slowly": slow, "feed_fast": fast})
print(f"{slow.seconds / fast.seconds:.1f} times as fast")

# %% [markdown] role="readonly" id="bound-text"
# *Expected:* six times or more. Now reading, all eight files at a time, takes 30 ms for a batch of eight, decoding 30 ms, training 40 ms: the network is the slowest.
#
# On a real machine `tf.data` has one thread for each core, and who waits occupies one. `options.threading.private_threadpool_size` gives a pipeline more threads; the store's `train` does so.

# %% [markdown] role="quiz" id="bound-quiz"
# For a batch, reading takes 20 ms, decoding 60 ms and the training step 50 ms, and all three overlap. You buy a GPU that is twice as fast. How long does a step take then?
#
# - [x] 60 ms, as before.
#   Decoding is the slowest stage, and was it already: the new GPU waits longer. More cores for decoding, or fewer calls, would help.
# - [ ] 25 ms, half of the training step.
#   That would need batches every 25 ms, and decoding delivers one in 60 ms.
# - [ ] 105 ms, that is 20 + 60 + 25.
#   The sum holds where nothing overlaps. With overlap the slowest stage alone counts.

# %% [markdown] role="readonly" id="train-text"
# ## 7. Digits on all ranks (11 minutes)
#
# Now a network is fed: *flatten*, a dense layer of 128, and one of 10, the multilayer perceptron that stands at the beginning of many courses. Its files are of unequal length, as real ones are.


# %% role="readonly" id="network" tags=["script"]
def build_network():
    """Return the network: 28 x 28 pixels in, one logit for each digit out."""
    layers = [
        tf.keras.layers.Flatten(input_shape=(28, 28)),
        tf.keras.layers.Dense(128, activation="relu", name="dense"),
        tf.keras.layers.Dense(10, name="dense_1"),
    ]
    return tf.keras.Sequential(layers)


def write_files(folder):
    """Write eight files of synthetic digits, unequally long, and return their paths."""
    images, labels = make_digits(num_images, seed)
    ends = num_images * np.array([0, 1, 3, 4, 6, 8, 11, 13, 16]) // 16
    folder.mkdir(parents=True, exist_ok=True)
    paths = [str(folder / f"digits-{number:05d}-of-00008") for number in range(8)]
    for path, first, end in zip(paths, ends, ends[1:]):
        write_records(path, images[first:end], labels[first:end])
    return paths


# %% [markdown] role="readonly" id="train-exercise-text"
# **Exercise (2 points).** Write `train`, with Keras and Horovod as in labs 02 and 03: `build()` makes the network; SGD with a momentum of 0.9 and the rate of one rank times the number of ranks, wrapped; the loss `SparseCategoricalCrossentropy(from_logits=True)`, the metric `"accuracy"`; `fit` over the data set for `num_epochs`, with `verbose=0`.
# The callbacks: broadcast, then the average of the metrics, and on rank 0 *only* `tf.keras.callbacks.TensorBoard(folder / "logs", histogram_freq=1, update_freq=1)`, which writes after every step, and the weights as histograms after every epoch. Return the history's dictionary.
#
# <details><summary>Hint</summary>
#
# `hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(…))`, `hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)`, `hvd_keras.callbacks.MetricAverageCallback()`, in that order before TensorBoard's. `network.fit(…).history` is the dictionary.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add a validation to `fit`, with samples of your own, and look for its events in the folder `validation`. Whose loss is it, one rank's or that of all?
#
# </details>


# %% role="answer" id="train" tags=["script"]
def train(build, dataset, folder, num_epochs, rate):
    """Train on all ranks together, with logs of rank 0 in the folder; return the history by metric."""
    # about 13 lines
    ### BEGIN SOLUTION
    network = build()
    network.compile(
        hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9)),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs", histogram_freq=1, update_freq=1))
    return network.fit(dataset, epochs=num_epochs, callbacks=callbacks, verbose=0).history
    ### END SOLUTION


# %% role="readonly" id="train-trial"
train_trial = lab05_training.try_train(train, num_ranks=3)
print(train_trial.error or "The training ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="train-tests" points=1
with check("training on all ranks", section="7"):
    lab05_training.check_trained(train_trial)
    ### BEGIN HIDDEN TESTS
    lab05_training.check_trained(lab05_training.try_train(train, num_ranks=2))
    ### END HIDDEN TESTS

# %% role="tests" id="logs-tests" points=1
with check("logs of rank 0", section="7"):
    lab05_training.check_logs(train_trial)

# %% [markdown] role="readonly" id="main-text"
# ### The run
#
# `main` is what every rank does, here and in the script `train.py` beside this notebook. It puts your pieces together: files, shards, a cache, a shuffle, equal steps, the training.


# %% role="readonly" id="main" tags=["script"]
def main(folder=folder):
    """Train on this rank and return the history by metric."""
    hvd.init()
    spare_horovod()  # AutoGraph need not translate Horovod's own code: a shorter first step
    for gpu in tf.config.list_physical_devices("GPU")[hvd.local_rank() : hvd.local_rank() + 1]:
        tf.config.set_visible_devices(gpu, "GPU")
        tf.config.experimental.set_memory_growth(gpu, True)
    files = None
    if hvd.rank() == 0:
        shutil.rmtree(Path(folder) / "logs", ignore_errors=True)
        files = write_files(Path(folder) / "files")
    files = hvd.broadcast_object(files, root_rank=0)
    mine = from_files(files, batch_size).unbatch().cache().shuffle(num_images, seed=seed)
    dataset = equal_steps(mine, batch_size).prefetch(tf.data.AUTOTUNE)
    return train(build_network, dataset, Path(folder), num_epochs, learning_rate)


# %% role="readonly" id="run" tags=["picture"]
def profiled(folder):
    """Do what main does, while TensorFlow writes down on rank 0 what each of its threads does."""
    hvd.init()
    if hvd.rank():
        return main(folder)
    with tf.profiler.experimental.Profile(f"{folder}/logs"):
        return main(folder)


logs = Path(f"{folder}/{num_ranks}-ranks/logs")
limits = {"num_threads": num_threads, "timeout_s": 60 * time_limit_min, "seed": seed}
for count in (1, num_ranks):
    history = ranks.run(profiled, f"{folder}/{count}-ranks", num_ranks=count, **limits)[0]
    print(f"ranks: {count}; accuracy by epoch", np.round(history["accuracy"], 2))

# %% [markdown] role="readonly" id="board-text"
# ## 8. At home: what TensorBoard tells
#
# This section takes about 8 minutes, which are not among those of the lab.
#
# TensorBoard is a web page that reads event files. `%load_ext tensorboard` and then `%tensorboard --logdir digits` in a cell open it in the notebook, where your browser may reach its port: on your own machine.
# In JupyterLab on another one, jupyter-server-proxy (if it is installed there) passes the port on: set `os.environ["TENSORBOARD_PROXY_URL"]` first, to the address of your server with `/proxy/%PORT%/` behind it.
# Where no port may be opened, read the same files without it:
#
# - **Scalars**: curves by step (`batch_loss`) and by epoch (`epoch_loss`). The one by step is rank 0's own: the mean of the epoch so far, so it jumps where an epoch begins. The one by epoch is the mean of all ranks, since the callback that averages came before.
# - **Graphs**: a training step as TensorFlow executes it. Horovod hangs between gradients and optimiser, one allreduce for each gradient; if they are missing there, ranks train apart. The cell below counts them.
# - **Histograms**: how the weights of each layer are distributed after each epoch. Weights that do not spread do not learn, weights that run away have too high a rate.
# - **Profile**: what each thread did, and when. `profiled` above has it written; the tab needs `pip install tensorboard-plugin-profile`. A step whose row *input* is long waits for data, as the first of each epoch does until the shuffle's buffer is full; one whose row *allreduce* is long waits for gradients of other ranks. Where ranks share cores and the network is as small as this one, that is most of the time.

# %% role="readonly" id="board-picture" tags=["picture"]
events = tensorboard.read_events(logs / "train")
print("tags:", *sorted({event.tag for event in events}), sep="\n  ")
print("allreduces in the graph of a step:", tensorboard.count_allreduces(logs / "train"))
tensorboard.show_scalars(events, ["batch_loss", "epoch_loss"])
tensorboard.show_histograms(events, "dense/kernel_0/histogram")
runs = {f"ranks: {count}": tensorboard.read_trace(f"{folder}/{count}-ranks/logs") for count in (1, num_ranks)}
tensorboard.show_profiles({name: tensorboard.steps_of(trace) for name, trace in runs.items()})

# %% [markdown] role="readonly" id="read-text"
# **Exercise (1 point).** Write `read_run`, which answers three questions about any such run from its event files. Its argument is the folder of the logs (a `Path`), in which Keras has made the folders `train` and `validation`. Return a dictionary:
#
# - `"last_loss"`: the training loss of the last epoch, over all ranks;
# - `"num_steps"`: how many steps are in the logs;
# - `"largest_weight"`: the largest weight of the layer `dense` (its `kernel`) after the last epoch.
#
# `tensorboard.read_events(folder)` returns a list of events with `tag`, `step` and `value`; the value of a histogram is an array with a row for each bucket: left edge, right edge, number of weights.
#
# <details><summary>Hint</summary>
#
# The value of the last event with the tag `epoch_loss`; the number of events with the tag `batch_loss`; the largest of the right edges, column 1, in the last event with the tag `dense/kernel_0/histogram`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Train with ten times the rate, and compare the histograms and the scalars of both runs.
#
# </details>


# %% role="answer" id="read-run"
def read_run(logs):
    """Return the last loss, the number of steps and the largest weight that a training wrote down."""
    # about 5 lines
    ### BEGIN SOLUTION
    events = tensorboard.read_events(logs / "train")
    losses = [event.value for event in events if event.tag == "epoch_loss"]
    kernels = [event.value for event in events if event.tag == "dense/kernel_0/histogram"]
    num_steps = sum(event.tag == "batch_loss" for event in events)
    return {"last_loss": losses[-1], "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}
    ### END SOLUTION


# %% role="tests" id="read-tests" points=1
with check("logs read", section="8"):
    lab05_training.check_read_run(read_run)

# %% role="readonly" id="own-run" tags=["picture"]
for name, number in read_run(logs).items():
    print(f"your own run, {name}: {number:.3g}")

# %% [markdown] role="readonly" id="end"
# ## What you can now do
#
# - You write and read TFRecord files, and know what a damaged one loses.
# - You build pipelines from files and from generators in which every rank has its own share and does its own work only.
# - You know for each pair of operations which comes first, and how to measure it.
# - You let all ranks make the same number of steps, and can repeat a training with another number of ranks on the same samples.
# - You find the slowest stage of a pipeline, and know what it bounds.
# - You read scalars, graph, histograms and profile of a training on several ranks.
#
# **Further reading**
#
# - [tf.data: build TensorFlow input pipelines](https://www.tensorflow.org/guide/data): every source and operation, with examples.
# - [Better performance with the tf.data API](https://www.tensorflow.org/guide/data_performance): the timelines of section 6, for each remedy.
# - [tf.data: a machine learning data processing framework](https://arxiv.org/abs/2101.12127): how AUTOTUNE decides, and how many jobs wait for their data.
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have its mark.

# %% role="readonly" id="report"
hand_in_report()

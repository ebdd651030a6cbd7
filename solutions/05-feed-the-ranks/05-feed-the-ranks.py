# %% [markdown] role="readonly" id="intro"
# # Lab 05: Feed the ranks
#
# **90 minutes, 20 points, two or more ranks.**
# A GPU that waits for data computes nothing. In this lab you write and read TFRecord files, and build pipelines that give each rank its share of the data. You also put a pipeline's operations in the right order, and speed up a slow pipeline.
# At the end, you train a small digit classifier on all ranks and inspect its logs in TensorBoard.
#
# After this lab you can
#
# - write TFRecord files, read them back, and find out which files are damaged;
# - build pipelines that read from files or generators and give each rank its share;
# - put shard, cache, shuffle, batch and prefetch in the right order, and verify the order by measurement;
# - make all ranks take the same number of steps, and train on the same samples with any number of ranks;
# - find the slowest stage of a pipeline on a timeline, and speed it up;
# - use TensorBoard to read the logs of a training run on several ranks.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer and reports what is missing; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.

# %% [markdown] role="readonly" id="parameters-text"
# These are the settings of this run. To change them, edit the cell below, or run the notebook with `coursekit execute 05 -p num_ranks 4 -p num_images 6000`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
num_images = 1600  # synthetic digits
batch_size = 40  # images per rank and step
learning_rate = 0.02  # for one rank
num_epochs = 3
folder = "digits"  # for files and logs
num_threads = 1  # per rank; 0: TensorFlow decides
time_limit_min = 5  # each run of the ranks is stopped after this time
seed = 1

# %% role="readonly" id="imports" tags=["script"]
import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages

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

# Hide the GPUs from this process: TensorFlow would take all the memory of a GPU, which the ranks need.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="records-text"
# ## 1. Records (18 minutes)
#
# A parallel file system copes badly with one file per image, because every open call goes to a metadata server that thousands of processes share.
# A *TFRecord* file holds thousands of samples, one after another, and is read from front to back. Each *record* is a byte string, stored with its length and two checksums.
# You decide what the string contains. Usually it is a `tf.train.Example`: a dictionary whose values are lists of byte strings, floats or integers.
#
# The samples in this lab are synthetic digits in MNIST's format: 28 x 28 grey levels, ten classes.

# %% role="readonly" id="digits-picture" tags=["picture"]
feeding_pictures.show_digits(*make_digits(12, seed))

# %% [markdown] role="readonly" id="write-text"
# **Exercise (1 point).** Write `write_records`. For each image, it writes one record with two features: `image` holds the pixels as bytes (`image.tobytes()`), and `label` holds an integer.
#
# <details><summary>Hint</summary>
#
# `tf.train.Example(features=tf.train.Features(feature={…}))` takes a `tf.train.Feature` for each name. Create each feature with `bytes_list=tf.train.BytesList(value=[…])` or `int64_list=tf.train.Int64List(value=[…])`.
# `with tf.io.TFRecordWriter(str(path)) as writer:` opens the file, and `writer.write(example.SerializeToString())` writes a record.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write the pixels as a list of floats instead, and compare the file sizes. `tf.io.TFRecordOptions("GZIP")` makes the files smaller, but how much longer does reading take?
#
# </details>


# %% role="answer" id="write-records" tags=["script"]
def write_records(path, images, labels):
    """Write a TFRecord file with one record for each image and its label."""
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
# Reading reverses these steps: parse the `Example`, turn the bytes into numbers, and restore the shape. Each call of a TensorFlow operation has a fixed cost; if you call it on a *batch* of records, you pay that cost only once.
# A map over batches is called *vectorised*. It is much cheaper than a map over single records.
#
# **Exercise (1 point).** Write `parse_batch`. It gets a batch of records, which is a tensor of strings with shape `(n,)`.
# It returns the images (float32, shape `(n, 28, 28)`, pixels from 0 to 1) and the labels (shape `(n,)`).
#
# <details><summary>Hint</summary>
#
# `tf.io.parse_example(batch, {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)})` returns a dictionary of tensors.
# `tf.io.decode_raw(strings, tf.uint8)` turns each string into a row of numbers. Then use `tf.reshape` and `tf.cast`, and scale the pixels.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Instead, parse the records one at a time with `tf.io.parse_single_example` before batching, and time both versions on 10 000 records.
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
# A copy may be interrupted, or a disk may flip a bit. The checksums reveal this, and `tf.data.TFRecordDataset(file)` raises a `DataLossError`. `dataset.ignore_errors()` suppresses the error,
# but it does *not* continue with the next record: a reader that cannot trust a record does not know where the next one begins. Everything that follows the damage in that file is lost, and no message tells you so.
#
# If a file was cut exactly between two records, reading it does not even raise an error. You notice the loss only if you know how many records there should be.
#
# **Exercise (1 point).** Write `count_lost`. It gets a list of files and the number of records that each file should have. For each file, it returns how many of these records `tf.data` does not deliver.
#
# <details><summary>Hint</summary>
#
# Make a data set for each file, and count the records that it delivers with `ignore_errors()`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A record consists of its length (8 bytes), a checksum of the length (4), the data, and a checksum of the data (4). Write a reader in plain Python that continues after damaged data. When is it impossible to know where the next record begins?
#
# </details>


# %% role="answer" id="count-lost"
def count_lost(files, num_expected):
    """Return a list with the number of records lost from each file; files[i] should have num_expected[i] records."""
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
# If the arrays fit into memory, one line turns them into a data set: `tf.data.Dataset.from_tensor_slices((images, labels))`. This is a bad choice for large data sets, because in a `tf.function` the arrays become constants in the graph.
#
# ### Files
#
# With N ranks, *shard the list of files*: each rank opens only its own files, so each byte is read only once. `interleave` then reads from several files at once.
# This way, neighbours in a batch come from different files, and the rank can wait for several files at the same time.
#
# **Exercise (2 points).** Write `from_files`. It returns batches of images and labels from one pass through this rank's files. Each batch has `batch_size` samples; only the last may be smaller.
# Proceed in this order: take the rank's share of the list, interleave, batch, parse, prefetch.
#
# <details><summary>Hint</summary>
#
# `files` is a list, so a slice with a step gives you this rank's share. `tf.data.Dataset.from_tensor_slices(…)` turns the share into a data set of file names.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)` reads four files at a time. `parse_batch` works on batches, so it comes after `batch`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Give `interleave` first a `block_length=3` and then `deterministic=False`, and run the pipeline several times with each. When does the order change, and could you still compare two training runs?
#
# </details>


# %% role="answer" id="from-files" tags=["script"]
def from_files(files, batch_size):
    """Return batches of images and labels from one pass through this rank's files."""
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
# Some samples are computed on the fly, or come from a library that TensorFlow does not know. `from_generator` calls a Python *function* at the start of every epoch and takes the samples that it yields.
# (A generator that is already running is used up after one epoch, so pass the function, not its result.)
# TensorFlow has to know the type and shape of the samples in advance, so you pass them as `output_signature`.
#
# If you called `dataset.shard` after a generator, every rank would compute *all* samples and throw most of them away. So select the rank's share inside the generator.
#
# **Exercise (2 points).** Write `from_generator`. `draw(number)` generates sample `number`, and returns its image (float32, shape `(28, 28)`) and its label. There are `num_samples` samples.
# Return a data set that yields this rank's samples one by one and draws no other samples.
#
# <details><summary>Hint</summary>
#
# Write an inner function without arguments that yields the samples. Which numbers does this rank draw, and which do the other ranks draw?
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `range(hvd.rank(), num_samples, hvd.size())` gives this rank's numbers. The signature is a tuple of two `tf.TensorSpec(shape, type)`; the label's shape is `()`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A generator runs under Python's global lock, one thread at a time. Instead, make a data set of sample numbers, and draw the samples in a `map` with `tf.numpy_function` and `num_parallel_calls`. For which kind of `draw` is this faster?
#
# </details>


# %% role="answer" id="from-generator"
def from_generator(draw, num_samples):
    """Return a data set with this rank's share of the samples; `draw` generates each sample."""

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
# The same operations in a different order make a different pipeline. The picture below shows six pipelines on two ranks, each run for two epochs. It shows which samples reach which rank, and in which batch. A frame marks a sample that appears more than once in an epoch. Samples in the row *no rank* do not reach any rank in that epoch. Look at the picture before you read on.


# %% role="readonly" id="order-picture" tags=["picture"]
def decode(number):
    """Return the number after a delay, which is longer for some samples than for others."""
    time.sleep(0.01 * (1 + 7 * number % 5))
    return number


def try_orders():
    """For each pipeline, return the batches that reach this rank in two epochs."""
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
# - *Shuffled before sharding*: if the ranks do not agree on the order, some samples reach both ranks and others reach neither.
# - *Batched before shuffling*: the same samples share a batch in every epoch.
# - *Cached after shuffling*: the first order is frozen, and the second epoch repeats the first.
# - *Repeated before shuffling*: epochs run into each other, so one sample can appear twice before another has appeared at all.
# - *Not deterministic* (`tf.data.Options`, or the argument `deterministic=False` of `map` and `interleave`): the sample that is ready first comes first. This avoids waiting, but no seed reproduces the order. A cache after such a step freezes the order of the first epoch.
# - Expensive work, such as loading and decoding, belongs *after the shard and before the cache*: there, it is done only once for each sample, on one rank. Anything random that should change from epoch to epoch, such as crops, belongs after the cache.
#
# **Exercise (3 points).** Write `feed`. It gets a data set of all sample numbers, an expensive function `load` that turns a number into an image, and the batch size.
# Return a data set of this rank's batches for one epoch. Every further pass through this data set is another epoch, with the samples in a different order.
# Each sample is loaded only once, however many epochs there are. The cache is kept in memory.
#
# <details><summary>Hint</summary>
#
# Call six methods of a data set, one after another. For each pair of methods, find out from the list above what goes wrong if you swap them.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `cache()` comes directly after the expensive work and before any step that should be random again in every epoch. The shuffle buffer should hold all of a rank's samples.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Shuffle with a buffer of only 4 samples, and plot over many epochs how far a sample moves from its place in the files. What does this mean for training if the files are sorted by class?
#
# </details>


# %% role="answer" id="feed"
def feed(dataset, load, batch_size):
    """Return this rank's batches for one epoch; samples are loaded only once, and each pass has a new order."""
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
# On four ranks, someone writes `dataset.shuffle(10_000, seed=rank).shard(4, rank)`, so the data is shuffled first, with a different seed on each rank. What happens to the training run?
#
# - [ ] It stops with an error, because the shards overlap.
#   Nothing compares the shards: each rank knows only its own numbers, and no error is raised.
# - [ ] Nothing. Each rank still gets a quarter of the samples, and they are well shuffled.
#   Each rank gets a quarter, but the ranks shuffle into different orders, so the four quarters overlap.
# - [x] It runs, but in each epoch about a third of the samples are used by no rank.
#   The probability that all four ranks miss a given sample is (3/4) to the power of 4, or 32 percent. Other samples are used by several ranks. No loss curve shows this.

# %% [markdown] role="readonly" id="global-text"
# ## 4. In step (18 minutes)
#
# ### The same samples, whatever the number of ranks
#
# You can compare a run on 4 ranks with a run on 2 only if each step uses the same samples. So let *all* ranks shuffle with the same seed and cut the resulting order into *global* batches. Each rank then takes its part of every batch.
# This means that every rank has to shuffle all samples. So shuffle only the sample *numbers*, before you load any sample. This costs almost nothing.
#
# **Exercise (2 points).** Write `global_batches`. It returns a data set in which every element is this rank's part of a global batch. A global batch consists of `global_batch_size` numbers from 0 to `num_samples - 1`.
# The order in TensorFlow depends on *two* seeds: the operation's seed, `shuffle(…, seed=seed)`, and the global seed, `tf.random.set_seed(seed)`. The ranks that a notebook starts have different global seeds, so set the global seed as well.
# The ranks' parts are disjoint, together they make up the global batch, and their sizes differ by at most one. If the last global batch is not full, it is left out. The order differs from epoch to epoch, but it is the same on all ranks.
#
# <details><summary>Hint</summary>
#
# Use `tf.data.Dataset.range(num_samples)`, a shuffle with the given seed and a buffer that holds all numbers, `batch(…, drop_remainder=True)`, and a `map` that takes a slice with a step.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# If you divide 12 samples among 5 ranks, each part has 3 or 2 samples. Is the mean of the ranks' gradients still the gradient of the global batch? Compute it for a loss of your choice.
#
# </details>


# %% role="answer" id="global-batches"
def global_batches(num_samples, global_batch_size, seed):
    """Return this rank's sample numbers for each step; together, all ranks use one global batch per step."""
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
# Files hold different numbers of samples, so ranks that read files have unequal shares. The first rank to run out of samples stops, and the others wait forever in `hvd.allreduce` for that rank's gradients.
# There are two simple ways out. If all ranks stop as soon as the rank with the fewest samples has finished, samples are lost. If all ranks continue until the rank with the most samples has finished, the others have to *repeat* samples. (`hvd.join()` is a third way: with it, a rank that has finished contributes zeros.)
#
# Each rank knows only its own number of samples, so the ranks have to exchange these numbers.
#
# **Exercise (2 points).** Write `equal_steps`. It returns this rank's samples in full batches. All ranks return the same number of batches, just enough for the rank with the most samples to use all of them. A rank repeats a sample only after it has used all of its samples once.
#
# <details><summary>Hint</summary>
#
# `dataset.cardinality()` does not know how many records the files hold, so count them: `sum(1 for _ in dataset)`. `hvd.allgather_object(number)` returns a list of all ranks' numbers. Then use `repeat`, `batch` and `take`, in this order.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Instead, stop all ranks when the rank with the fewest samples has finished, and distribute the files so that few samples are lost. If 3 ranks read the eight files of section 7, what share of the samples does each way lose or repeat?
#
# </details>


# %% role="answer" id="equal-steps" tags=["script"]
def equal_steps(dataset, batch_size):
    """Return this rank's samples in full batches, the same number on all ranks, enough for the largest share."""
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
# Data that does not fit into memory can be cached in files: `dataset.cache(path)` writes the files in the first epoch and reads them in all later epochs. Put them on fast storage in the node, such as an NVMe disk or a RAM disk, to take the load off the shared file system.
#
# If two ranks use the *same* path, they get in each other's way. If they run at the same time, one of them finds the other's lock file and fails with an `AlreadyExistsError`. If they run one after the other, it is worse: the second rank finds a finished cache,
# takes it for its own, and silently trains on the first rank's samples. Tomorrow's job, with different data, would make the same mistake. So use a new `folder` for each job, for example with the job's number in its name.
#
# **Exercise (1 point).** Write `cached`. It returns a data set with the same samples, cached in files in `folder` (a `Path` on the node). All ranks on the node get the same folder.
#
# <details><summary>Hint</summary>
#
# `dataset.cache(…)` takes a string. Put the rank's number into it, so that each rank uses a different path.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Iterate over only half of a data set that has a file cache, then over all of it. Which files exist after each pass, and does the second pass read from them? The same happens if you call `take` after the cache.
#
# </details>


# %% role="answer" id="cached"
def cached(dataset, folder):
    """Return the data set, cached in files that only this rank uses."""
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
# A pipeline has stages: *read*, *decode*, *train*. Without overlap, a step takes as long as all stages together. With overlap, it takes at least as long as the *slowest* stage:
#
# time per step ≥ max(read, decode, train)
#
# So find the slowest stage, speed it up, and measure again, until training itself is the slowest stage.
#
# Here is a store that is slow by design. It sleeps instead of working, so it is equally slow on every machine. Reading a record takes 30 ms. Each *call* of `decode` also takes 30 ms, whether for one record or for a whole batch. A training step takes 40 ms.
# `feed_slowly` is the simplest pipeline:
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
# **Exercise (2 points).** Write `feed_fast`. It returns the same images in batches of the same size, at least 2.7 times as fast. (If only training took time, it would be more than 10 times as fast.) There are four remedies:
#
# - `interleave(store.read, cycle_length=…, num_parallel_calls=…)` waits for several files at the same time. Use eight, because there are eight files: the default depends on the number of cores, but waiting needs no core;
# - `map(…, num_parallel_calls=…)` decodes several records at the same time;
# - `batch` *before* the map turns eight calls of `decode` into one, as with the vectorised map in section 1;
# - `prefetch` at the end prepares the next batches while the network works on the current one.
#
# <details><summary>Hint</summary>
#
# Start from `feed_slowly`, and change one thing at a time. The cell that draws the timeline shows how much faster each change makes the pipeline.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `store.decode` takes one record or a whole batch. `flat_map` reads one file after another; `interleave` reads several at a time.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Use a `SlowStore(store_images, train_s=0.2)`. First compute the bound on the time per step. Which of the four remedies are still worth a line of code?
#
# </details>


# %% role="answer" id="feed-fast"
def feed_fast(store, batch_size):
    """Return batches of the store's images; reading, decoding and training overlap."""
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
# *Expected:* your pipeline is at least six times as fast as `feed_slowly`. For a batch of eight, reading takes 30 ms, because all eight files are read at the same time; decoding takes 30 ms, and training 40 ms. So training is now the slowest stage.
#
# On a real machine, `tf.data` has one thread per core, and each waiting read occupies a thread. `options.threading.private_threadpool_size` gives a pipeline more threads; in this lab, the store's `train` sets this option.

# %% [markdown] role="quiz" id="bound-quiz"
# For a batch, reading takes 20 ms, decoding 60 ms and the training step 50 ms, and all three overlap. You buy a GPU that is twice as fast. How long does a step take then?
#
# - [x] 60 ms, as before.
#   Decoding was already the slowest stage, so the new GPU only waits longer. It would help to decode on more cores, or with fewer calls.
# - [ ] 25 ms, half the training step.
#   For this, a batch would have to be ready every 25 ms, but decoding delivers a batch only every 60 ms.
# - [ ] 105 ms, that is 20 + 60 + 25.
#   The times add up only if nothing overlaps. With overlap, only the slowest stage counts.

# %% [markdown] role="readonly" id="train-text"
# ## 7. Digits on all ranks (11 minutes)
#
# Now you feed a network: a *flatten* layer, a dense layer of 128 units and a dense layer of 10. Many courses begin with this multilayer perceptron. The input files hold different numbers of samples, as real files do.


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
    """Write eight files of synthetic digits, of different lengths, and return their paths."""
    images, labels = make_digits(num_images, seed)
    ends = num_images * np.array([0, 1, 3, 4, 6, 8, 11, 13, 16]) // 16
    folder.mkdir(parents=True, exist_ok=True)
    paths = [str(folder / f"digits-{number:05d}-of-00008") for number in range(8)]
    for path, first, end in zip(paths, ends, ends[1:]):
        write_records(path, images[first:end], labels[first:end])
    return paths


# %% [markdown] role="readonly" id="train-exercise-text"
# **Exercise (2 points).** Write `train` with Keras and Horovod, as in labs 02 and 03. `build()` makes the network. Wrap an SGD optimiser with a momentum of 0.9; its learning rate is the rate for one rank times the number of ranks. Use the loss `SparseCategoricalCrossentropy(from_logits=True)` and the metric `"accuracy"`. Call `fit` with the data set, `num_epochs` epochs and `verbose=0`.
# The first callback broadcasts, the second averages the metrics, and the third, on rank 0 *only*, is `tf.keras.callbacks.TensorBoard(folder / "logs", histogram_freq=1, update_freq=1)`. TensorBoard's callback writes after every step, and adds histograms of the weights after every epoch. Return the history as a dictionary.
#
# <details><summary>Hint</summary>
#
# Use `hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(…))`. Put `hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)` and `hvd_keras.callbacks.MetricAverageCallback()`, in this order, before TensorBoard's callback. `network.fit(…).history` is the dictionary.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Let `fit` also validate on samples of your choice, and look for the events of this validation in the folder `validation`. Is the validation loss the loss of one rank or of all ranks?
#
# </details>


# %% role="answer" id="train" tags=["script"]
def train(build, dataset, folder, num_epochs, rate):
    """Train on all ranks together, write rank 0's logs to the folder, and return the history, keyed by metric."""
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
# Every rank runs `main`, both here and in the script `train.py` next to this notebook. The function puts your pieces together: files, shards, a cache, a shuffle, equal steps and training.


# %% role="readonly" id="main" tags=["script"]
def main(folder=folder):
    """Train on this rank and return the history, keyed by metric."""
    hvd.init()
    spare_horovod()  # AutoGraph skips Horovod's own code, so the first step is shorter
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
    """Run main and return its result; meanwhile, TensorFlow on rank 0 records what each thread does."""
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
# ## 8. At home: what TensorBoard shows
#
# This section takes about 8 minutes, in addition to the lab's time.
#
# TensorBoard shows the contents of event files on a web page. If the notebook runs on your own machine, your browser can reach TensorBoard's port: to open TensorBoard in the notebook, run `%load_ext tensorboard` and then `%tensorboard --logdir digits` in a cell.
# In JupyterLab on another machine, jupyter-server-proxy (if it is installed there) forwards the port. First set `os.environ["TENSORBOARD_PROXY_URL"]` to the address of your server, followed by `/proxy/%PORT%/`.
# If you are not allowed to open a port, you can read the same files without TensorBoard, as the next cell does. They contain:
#
# - **Scalars**: curves by step (`batch_loss`) and by epoch (`epoch_loss`). The per-step curve comes from rank 0 only. It shows the mean over the epoch so far, so it jumps when a new epoch begins. The curve by epoch shows the mean over all ranks, because the averaging callback comes before TensorBoard's.
# - **Graphs**: a training step as TensorFlow executes it. Horovod sits between the gradients and the optimiser, with one allreduce for each gradient. If the allreduces are missing, each rank trains separately. The cell below counts them.
# - **Histograms**: how the weights of each layer are distributed after each epoch. If the weights of a layer do not spread out, the layer does not learn. If they grow without limit, the learning rate is too high.
# - **Profile**: what each thread did, and when. The function `profiled` above records this; the tab in TensorBoard needs `pip install tensorboard-plugin-profile`. If the row *input* of a step is long, the step waits for data; the first step of each epoch waits until the shuffle buffer is full. If the row *allreduce* is long, the step waits for other ranks' gradients. In a network as small as this one, whose ranks share cores, this wait takes most of the time.

# %% role="readonly" id="board-picture" tags=["picture"]
events = tensorboard.read_events(logs / "train")
print("tags:", *sorted({event.tag for event in events}), sep="\n  ")
print("allreduces in the graph of a step:", tensorboard.count_allreduces(logs / "train"))
tensorboard.show_scalars(events, ["batch_loss", "epoch_loss"])
tensorboard.show_histograms(events, "dense/kernel_0/histogram")
runs = {f"ranks: {count}": tensorboard.read_trace(f"{folder}/{count}-ranks/logs") for count in (1, num_ranks)}
tensorboard.show_profiles({name: tensorboard.steps_of(trace) for name, trace in runs.items()})

# %% [markdown] role="readonly" id="read-text"
# **Exercise (1 point).** Write `read_run`, which answers three questions about a training run from its event files. Its argument is the log folder (a `Path`), in which Keras has created the folders `train` and `validation`. Return a dictionary:
#
# - `"last_loss"`: the training loss of the last epoch, averaged over all ranks;
# - `"num_steps"`: the number of steps in the logs;
# - `"largest_weight"`: the largest weight of the layer `dense` (its `kernel`) after the last epoch.
#
# `tensorboard.read_events(folder)` returns a list of events with `tag`, `step` and `value`; the value of a histogram is an array with one row per bucket: left edge, right edge, number of weights.
#
# <details><summary>Hint</summary>
#
# Take the value of the last event with the tag `epoch_loss`, and count the events with the tag `batch_loss`. The largest weight is the largest right edge, column 1, in the last event with the tag `dense/kernel_0/histogram`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Train with ten times the learning rate, and compare the histograms and scalars of both runs.
#
# </details>


# %% role="answer" id="read-run"
def read_run(logs):
    """Return the last loss, the number of steps and the largest weight from the logs of a training run."""
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
# - You can write and read TFRecord files, and you know which records are lost if a file is damaged.
# - From files or generators, you can build pipelines in which each rank has its own share and does only its own work.
# - You know which of two operations in a pipeline has to come first, and can confirm this by measurement.
# - You can make all ranks take the same number of steps, and repeat a run on the same samples with a different number of ranks.
# - You can find the slowest stage of a pipeline, and you know how it limits the speed of training.
# - You can read the scalars, graph, histograms and profile of a training run on several ranks.
#
# **Further reading**
#
# - [tf.data: build TensorFlow input pipelines](https://www.tensorflow.org/guide/data): every source and operation, with examples.
# - [Better performance with the tf.data API](https://www.tensorflow.org/guide/data_performance): timelines like those in section 6, one for each remedy.
# - [tf.data: a machine learning data processing framework](https://arxiv.org/abs/2101.12127): how AUTOTUNE makes its decisions, and how many jobs have to wait for their data.
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

# %% [markdown] role="readonly" id="intro"
# # Lab 03: Convolutional networks with Keras on ImageNet files
#
# **120 minutes, 20 points, two or more ranks.**
# You take a network from `tf.keras.applications` and a folder of files in ImageNet format, and turn single-process training into training on N ranks.
# On a laptop, the files hold small synthetic images and the network is MobileNetV2; at a computing centre, you change only the parameters, and the same notebook trains ResNet50 on ImageNet.
#
# After this lab you can
#
# - build an input pipeline in which every rank reads its own files;
# - adapt Keras training from one process to many, and say what each step is for;
# - continue an interrupted training run on all ranks from one checkpoint;
# - validate on all ranks, and weight their results correctly;
# - measure throughput, scaling efficiency and the share of time that communication takes.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer on real ranks and reports what is missing; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.
# The checks use a tiny network that records what it sees, so they take seconds, not minutes.

# %% [markdown] role="readonly" id="parameters-text"
# These are the parameters of this run. To train another network on other files, change them here, or run the notebook with
# `coursekit execute 03 -p model ResNet50 -p image_size 224 -p data /path/to/imagenet`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
model = "MobileNetV2"  # any network in tf.keras.applications, or SmallCNN
image_size = 64  # width and height in pixels
data = ""  # a folder of TFRecord files; '' for synthetic images
damaged = "stop"  # what to do at a damaged record: "stop" or "skip"
batch_size = 16  # images per rank and step
global_batch_size = 0  # images per step, all ranks together; 0: batch_size times the number of ranks
learning_rate = 0.01  # for one rank
num_warmup_epochs = 1
num_epochs = 2
max_num_steps = 0  # upper limit for the steps in an epoch; 0: no limit
precision = "float32"  # or "mixed_float16", "mixed_bfloat16"
compression = "none"  # or "fp16": gradients are sent with 16 bits
num_groups = 1  # number of messages for a step's gradients; 0: send each when it is ready, best on many GPUs
folder = "training"  # for checkpoints and logs
num_threads = 1  # per rank; 0: TensorFlow decides
time_limit_min = 10  # minutes after which a run on ranks is stopped
seed = 1

# %% role="readonly" id="imports" tags=["script"]
import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages

# %% role="readonly" id="notebook-imports"
from coursekit import ranks

ranks.warm_up()  # starts importing TensorFlow and Horovod for the ranks while this process does the same

# %% role="readonly" id="library-imports" tags=["script"]
import tempfile
from pathlib import Path

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf

from coursekit import imagenet, throughput
from coursekit.imagenet.networks import build_network
from coursekit.ranks.horovod_build import spare_horovod

# %% role="readonly" id="checks-imports"
from coursekit.pictures import training as training_pictures
from coursekit.checks import (
    check,
    hand_in_report,
    lab02_pieces,
    lab03_continued,
    lab03_data,
    lab03_pieces,
    lab03_training,
    lab03_updates,
)

# The GPUs are for the ranks: in this process, TensorFlow would take all the memory of a GPU.
tf.config.set_visible_devices([], "GPU")

# %% [markdown] role="readonly" id="files-text"
# ## 1. The files (4 minutes)
#
# ImageNet comes as *TFRecord* files: 1024 for training and 128 for validation. Each file is a sequence of records. A record holds one image as a JPEG, its label from 1 to 1000, and its size.
# Label 0 is reserved for a background class to which no image belongs, so the networks here have 1001 outputs.
# Our synthetic data has the same format, with fewer and smaller images. As in the real data set, some files hold more images than others.

# %% role="readonly" id="find-files" tags=["script"]
data_folder = imagenet.find_data(data)
train_files = imagenet.list_files(data_folder, "train")
validation_files = imagenet.list_files(data_folder, "validation")

# %% role="readonly" id="files-picture" tags=["picture"]
print(
    f"{len(train_files)} files for training, {len(validation_files)} for validation, the first is {Path(train_files[0]).name}"
)
training_pictures.show_records(train_files)

# %% [markdown] role="readonly" id="pin-text"
# ## 2. One GPU per rank (4 minutes)
#
# As in lab 02, each rank pins the GPU whose index is its *local* rank, before TensorFlow touches any GPU.
#
# **Exercise (1 point).** Write `pin_gpu` again. If there is no GPU, it must do nothing.
# Also let TensorFlow take GPU memory as it needs it, not all at once: `tf.config.experimental.set_memory_growth(gpu, True)`.
#
# <details><summary>Hint</summary>
#
# `tf.config.list_physical_devices("GPU")` lists the GPUs of the node; `tf.config.set_visible_devices(gpu, "GPU")` makes only that GPU visible.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Two ranks can also share one GPU. Look up `tf.config.set_logical_device_configuration`. How do you give each rank half of the memory, and why can neither rank get more memory after that?
#
# </details>


# %% role="answer" id="pin-gpu" tags=["script"]
def pin_gpu():
    """Make only the GPU whose index is the local rank visible; if there are no GPUs, do nothing."""
    # about 4 lines
    ### BEGIN SOLUTION
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
        tf.config.experimental.set_memory_growth(gpus[hvd.local_rank()], True)
    ### END SOLUTION


# %% role="tests" id="pin-gpu-tests" points=1
with check("GPU pinning", section="2"):
    lab02_pieces.check_pin_gpu(pin_gpu, ranks_per_node=2, num_ranks=4)
    lab03_pieces.check_memory_growth(pin_gpu)
    ### BEGIN HIDDEN TESTS
    lab02_pieces.check_pin_gpu(pin_gpu, ranks_per_node=3, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="picture-text"
# ## 3. The input pipeline (28 minutes)
#
# ### From a record to an image
#
# The networks expect images of one size, with pixel values from -1 to 1. For training, each image is cropped at random every time it is loaded, so that the network never sees quite the same image twice.
# We take a random *window* that covers 40 to 100 % of the image's area, and mirror it half of the time. For validation, the window is the largest square in the middle.
# The functions for both windows are given below. Decoding only the window is much faster than decoding the whole image and cropping it afterwards.


# %% role="readonly" id="windows" tags=["script"]
def random_window(encoded):
    """Return a random window of an image, for training: y, x, height, width."""
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(encoded),
        bounding_boxes=tf.zeros((1, 0, 4)),
        area_range=(0.4, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        use_image_if_no_bounding_boxes=True,
    )
    return tf.concat([begin[:2], size[:2]], axis=0)


def central_window(encoded):
    """Return the largest square in the middle of an image: y, x, height, width."""
    height, width, _ = tf.unstack(tf.io.extract_jpeg_shape(encoded))
    side = tf.minimum(height, width)
    return tf.stack([(height - side) // 2, (width - side) // 2, side, side])


# %% [markdown] role="readonly" id="picture-exercise-text"
# **Exercise (1 point).** Write `load_picture`. It takes a record and returns the image and the label; the image is float32 of shape `(image_size, image_size, 3)` with pixels from -1 to 1.
#
# <details><summary>Hint</summary>
#
# `imagenet.parse_record(record)` returns the encoded image and the label. The two functions above take the encoded image and return a window. After decoding, pixels range from 0 to 255: which number do you divide them by, and which number do you then subtract?
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `tf.io.decode_and_crop_jpeg(encoded, window, channels=3)` decodes the window, `tf.image.resize(picture, (image_size, image_size))` resizes it, and `tf.image.random_flip_left_right(picture)` mirrors it half of the time.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# For training, vary brightness and colour as well (`tf.image.random_brightness`, `tf.image.random_saturation`). By how many images per second does this slow down your pipeline?
#
# </details>


# %% role="answer" id="load-picture" tags=["script"]
def load_picture(record, training):
    """Return a record's image, cropped at random for training, and its label."""
    # about 7 lines, in this order: parse the record, choose the window, decode it,
    # resize it, mirror it at random (only in training), scale the pixels from 0..255 to -1..1
    ### BEGIN SOLUTION
    encoded, label = imagenet.parse_record(record)
    window = random_window(encoded) if training else central_window(encoded)
    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
    picture = tf.image.resize(picture, (image_size, image_size))
    if training:
        picture = tf.image.random_flip_left_right(picture)
    return picture / 127.5 - 1, label
    ### END SOLUTION


# %% role="tests" id="load-picture-tests" points=1
with check("pictures", section="3"):
    lab03_data.check_load_picture(load_picture, image_size)

# %% [markdown] role="readonly" id="damaged-text"
# ### Damaged files
#
# If you copy a thousand files between machines, one of them may end up truncated. `imagenet.read_records(file, damaged)` reads one file, and the parameter `damaged` says what happens at a damaged record:
# either the run ends with a `DataLossError`, or the record and the rest of its file are skipped. `coursekit data check` lists the damaged files.

# %% role="readonly" id="damaged" tags=["picture"]
cut_off = Path(tempfile.mkdtemp()) / "train-00000-of-00001"
cut_off.write_bytes(Path(train_files[0]).read_bytes()[:50_000])
num_records = imagenet.count_images(train_files[:1])
print("skip:", sum(1 for _ in imagenet.read_records(str(cut_off), "skip")), "of", num_records, "records read")
try:
    list(imagenet.read_records(str(cut_off), "stop"))
except tf.errors.DataLossError as error:
    print("stop:", error.message.partition("}} ")[2].partition(" [Op:")[0])

# %% [markdown] role="readonly" id="dataset-text"
# ### From files to batches
#
# The pipeline consists of five steps. Their order matters for the result, for speed or for memory:
#
# 1. **Shard the list of files**, so that each rank opens only its own files. If you sharded the records instead, every rank would read all the files, and the file system would see N times the traffic.
# 2. For training, shuffle the files. Then *interleave*: read from several files at once, so that neighbours in a batch come from different files.
# 3. For training, shuffle the records in a buffer of 1000, then repeat them without end.
# 4. Load the images on all cores: `num_parallel_calls=tf.data.AUTOTUNE`. Decoding is the expensive part, so it comes after sharding and shuffling.
# 5. Batch, and *prefetch*, so that the next batch is prepared while the network trains on the current one.
#
# If you pass `seed` to both shuffles, two runs see the records in the same order. `deterministic=False` lets `interleave` take records as soon as they are ready:
# this is a little faster, but the order is never the same twice.
# The random crops still differ from run to run, because several cores load images at the same time, and the order in which they draw random numbers varies.
# So two otherwise identical runs end with different accuracies. Lab 04 avoids this by deriving the random numbers from each record's position in the data.
#
# **Exercise (3 points).** Write `make_dataset`. It carries out all five steps, and uses `deterministic` and the parameter `damaged`.
# In training, all batches are full (`drop_remainder=True`), and no image is left out of an epoch; in validation, nothing is shuffled, repeated or dropped.
#
# <details><summary>Hint</summary>
#
# `files` is a Python list: a slice with a step selects a rank's share. `tf.data.Dataset.from_tensor_slices(files)` turns a list of file names into a data set. Every further line has the form `dataset = dataset.…`.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `dataset.interleave(lambda file: imagenet.read_records(file, damaged), cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)` reads from four files at a time. `map` takes a function of one record: `lambda record: load_picture(record, training)`.
#
# </details>
#
# <details><summary>A trap</summary>
#
# If you shuffle *before* sharding, every rank opens different files in each epoch; and if the ranks do not agree on the order, some samples are lost and others are used twice.
# So shard first; then every rank may shuffle as it likes.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Place `.cache()` first before the step that loads the images, then after it. How long does the second epoch take in each case, and what is the drawback of one of the two places?
#
# </details>


# %% role="answer" id="make-dataset" tags=["script"]
def make_dataset(files, batch_size, training, deterministic=True):
    """Return this rank's batches of images and labels; in training, they never end."""
    # about 11 lines, in this order:
    # - the files of this rank
    # - a data set of their names; in training, shuffled with the seed
    # - their records, from four files at a time; in training, shuffled with the seed, then repeated
    # - images and labels in place of records
    # - batches, then prefetch
    ### BEGIN SOLUTION
    files = files[hvd.rank() :: hvd.size()]
    dataset = tf.data.Dataset.from_tensor_slices(files)
    if training:
        dataset = dataset.shuffle(len(files), seed=seed)
    read = lambda file: imagenet.read_records(file, damaged)
    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    load = lambda record: load_picture(record, training)
    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
    ### END SOLUTION


# %% role="readonly" id="dataset-trial"
dataset_trial = lab03_data.try_dataset(make_dataset, num_ranks=3)
print(dataset_trial.error or "The pipeline ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="shards-tests" points=2
with check("shards", section="3"):
    lab03_data.check_shards(dataset_trial)
    ### BEGIN HIDDEN TESTS
    lab03_data.check_shards(lab03_data.try_dataset(make_dataset, num_ranks=2))
    ### END HIDDEN TESTS

# %% role="tests" id="order-tests" points=1
with check("batches and their order", section="3"):
    lab03_data.check_order(dataset_trial)


# %% role="readonly" id="dataset-picture" tags=["picture"]
def first_batch():
    hvd.init()
    pictures, labels = next(iter(make_dataset(train_files, 8, training=True)))
    return pictures.numpy(), labels.numpy()


training_pictures.show_batches(ranks.run(first_batch, num_ranks=num_ranks, seed=seed))

# %% [markdown] role="readonly" id="plan-text"
# ## 4. Batch size, learning rate, steps (11 minutes)
#
# There are two ways to use N ranks:
#
# - each rank keeps a batch of `batch_size` images, so the *global batch* of a step grows with N (this is called weak scaling, and it is the usual way);
# - the global batch is fixed and divided among the ranks (an *elastic* batch): training is the same with any number of ranks, and the more ranks there are, the less each of them has to do.
#
# As in lab 02, the learning rate follows the global batch: `learning_rate` is meant for a global batch of `batch_size` images, so a global batch k times as large needs k times the rate.
# An epoch is one pass over the data, so the more images a step uses, the fewer steps an epoch has. All ranks must take the *same* number of steps, however many images their files hold.
#
# **Exercise (2 points).** Write `plan`, which returns the batch size per rank, the learning rate and the number of steps in an epoch (rounded down, at least 1).
# A `global_batch_size` of 0 stands for the first way. If the global batch cannot be divided equally among the ranks, round it down until it can; the rate and the steps follow from the rounded value.
#
# <details><summary>Hint</summary>
#
# First compute the batch size of a rank: `batch_size`, or `global_batch_size // hvd.size()`. Multiply it by `hvd.size()` to get the global batch size; the other two results follow from that.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# The ranks' files hold different numbers of images, but all ranks take the same number of steps. Use `imagenet.count_images` on each rank's files: how many times does each rank see its own images in an epoch?
#
# </details>


# %% role="answer" id="plan" tags=["script"]
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    """Return the batch size per rank, the learning rate for the global batch, and the number of steps in an epoch."""
    # about 4 lines
    ### BEGIN SOLUTION
    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.size()
    num_steps = max(1, num_images // in_a_step)
    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
    ### END SOLUTION


# %% role="tests" id="plan-tests" points=1
with check("batch size, rate and steps", section="4"):
    lab03_pieces.check_plan(plan, num_ranks=4, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab03_pieces.check_plan(plan, num_ranks=3, ranks_per_node=2)
    ### END HIDDEN TESTS

# %% role="tests" id="elastic-tests" points=1
with check("elastic batch", section="4"):
    lab03_pieces.check_elastic(plan, num_ranks=4, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab03_pieces.check_elastic(plan, num_ranks=3, ranks_per_node=2)
    lab03_pieces.check_elastic(plan, num_ranks=1)
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="steps-quiz"
# Someone goes from one rank to four, with a `batch_size` of 16 on each, and leaves `steps_per_epoch` as it was for one rank. What happens in each epoch?
#
# - [ ] One pass over the data, as before.
#   That would be true if the four ranks read the same images. But each rank reads its own images, so a step uses four times as many.
# - [ ] It ends with an error, because the data run out.
#   In training, the data set repeats without end, so it never runs out, and nothing reports an error.
# - [ ] One pass over the data, four times as fast.
#   The same number of steps takes about the same time. You save time only if you take a quarter of the steps.
# - [x] Four passes over the data.
#   Four ranks use 64 images in each step, and take the same number of steps as one rank did. Anything that counts epochs, such as the warm-up or the checkpoints, is then also off by a factor of four.

# %% [markdown] role="readonly" id="warmup-text"
# ## 5. Warm-up (8 minutes)
#
# At the start of training, the gradients are large and change direction quickly, so a rate that is scaled for many ranks would throw the weights far off course.
# [Goyal et al. (2017)](https://arxiv.org/abs/1706.02677) began with the rate of *one* rank and raised it in equal steps to the scaled rate over the first epochs. This allowed them to scale ResNet-50 to batches of 8192.
#
# **Exercise (1 point).** Write `warmed_up`, which returns the rate in a given step. The rate rises in a straight line from `rate / hvd.size()` in step 0 to `rate` in step `num_warmup_steps`, and stays at `rate` from then on.
# If there are no warm-up steps, the function always returns `rate`.
#
# <details><summary>Hint</summary>
#
# The completed fraction of the warm-up is `step / num_warmup_steps`, at most 1. Handle zero warm-up steps first.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# After the warm-up, let the rate fall along half a cosine to 0 at the last step, and plot it with `training_pictures.show_rates`.
#
# </details>


# %% role="answer" id="warmed-up" tags=["script"]
def warmed_up(step, rate, num_warmup_steps):
    """Return the learning rate in the given step; steps are counted from 0."""
    # about 4 lines
    ### BEGIN SOLUTION
    if step >= num_warmup_steps:
        return rate
    start = rate / hvd.size()
    return start + (rate - start) * step / num_warmup_steps
    ### END SOLUTION


# %% role="tests" id="warmed-up-tests" points=1
with check("warm-up", section="5"):
    lab03_pieces.check_warm_up(warmed_up, num_ranks=4, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab03_pieces.check_warm_up(warmed_up, num_ranks=3, ranks_per_node=2)
    ### END HIDDEN TESTS


# %% role="readonly" id="warmup-picture" tags=["picture"]
def rates():
    hvd.init()
    return [warmed_up(step, learning_rate * hvd.size(), 20) for step in range(30)]


training_pictures.show_rates({count: ranks.run(rates, num_ranks=count)[0] for count in (1, 2, 4)})

# %% [markdown] role="readonly" id="warmup-callback-text"
# This callback sets the rate before every step. It uses the optimiser's step counter, so it continues correctly after a restart.
#
# Horovod also has a callback for this: `LearningRateWarmupCallback`. With recent versions of Keras 2, in which the momentum is no longer a variable, it raises an `AttributeError` unless you pass `momentum_correction=False`, because it tries to change the momentum.
# If you use Horovod's callback, pass it the scaled rate.


# %% role="readonly" id="warmup-callback" tags=["script"]
class WarmUp(tf.keras.callbacks.Callback):
    """Set the learning rate before every step."""

    def __init__(self, rate, num_warmup_steps):
        super().__init__()
        self.rate = rate
        self.num_warmup_steps = num_warmup_steps

    def on_train_batch_begin(self, batch, logs=None):
        optimizer = self.model.optimizer
        optimizer.learning_rate = warmed_up(int(optimizer.iterations), self.rate, self.num_warmup_steps)


# %% [markdown] role="readonly" id="optimizer-text"
# ## 6. The optimiser (7 minutes)
#
# In Keras, the optimiser does the averaging: `hvd_keras.DistributedOptimizer(optimizer)` wraps an optimiser so that `fit` averages the gradients of all ranks before it applies them.
#
# Two of its arguments make the averaging faster:
#
# - `compression=hvd.Compression.fp16` sends gradients as 16-bit instead of 32-bit numbers, which halves the number of bytes. This pays off if the network between nodes is the bottleneck; on CPUs, the conversion costs more than it saves.
# - `groups=N` divides the gradients into N groups and sends each group as one message. Without groups, Horovod sends in each of its cycles whatever gradients are ready. That is best on many GPUs, because sending overlaps with computing.
#   On CPUs, sending takes time away from computing, so fewer and larger messages are better; TensorFlow also has a smaller graph to build. `groups=None` means no groups.
#
# **Exercise (2 points).** Write `make_optimizer`. It returns an SGD optimiser with a momentum of 0.9, wrapped for Horovod, with 16-bit compression if `compression` is `"fp16"`, and with `groups=num_groups or None`.
#
# <details><summary>Hint</summary>
#
# Wrap `tf.keras.optimizers.SGD(rate, momentum=0.9)`. For no compression, pass `hvd.Compression.none`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# How many bytes do the gradients of a step take up, with 32 and with 16 bits? `network.count_params()` counts the weights. How long does it take to send them at 10 Gbit/s, and how long does a step take on your machine?
#
# </details>


# %% role="answer" id="make-optimizer" tags=["script"]
def make_optimizer(rate, compression="none"):
    """Return an SGD optimiser with momentum 0.9 that averages the gradients over all ranks."""
    # about 3 lines
    ### BEGIN SOLUTION
    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
    ### END SOLUTION


# %% role="readonly" id="optimizer-trial"
optimizer_trial = lab03_updates.try_optimizer(make_optimizer, num_ranks=3)
print(optimizer_trial.error or "The optimiser ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="optimizer-tests" points=1
with check("averaged gradients", section="6"):
    lab03_updates.check_averaged(optimizer_trial)

# %% role="tests" id="compression-tests" points=1
with check("compression and groups", section="6"):
    lab03_updates.check_compression(optimizer_trial)
    lab03_updates.check_groups(optimizer_trial)

# %% [markdown] role="readonly" id="callbacks-text"
# ## 7. Callbacks (10 minutes)
#
# Callbacks do the rest. `fit` calls them in the order in which you list them:
#
# 1. `hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)` sends rank 0's weights and its optimiser's momenta to all ranks. It does so after the first batch, when all variables exist.
# 2. `hvd_keras.callbacks.MetricAverageCallback()` averages the losses and metrics of an epoch over the ranks.
#    Callbacks listed after it see the averages. Otherwise, a callback that makes decisions, such as `EarlyStopping`, might decide differently on each rank: one rank would stop, and the others would wait for it forever.
# 3. On rank 0 *only*: `tf.keras.callbacks.ModelCheckpoint` saves a checkpoint after each epoch, and `tf.keras.callbacks.TensorBoard` writes logs. If two ranks write the same file, they corrupt it.
#
# **Exercise (3 points).** Write `make_callbacks`. It takes a folder (a `Path`) and returns a list of callbacks: checkpoints go to `folder / "epoch-{epoch:03d}"` with `save_weights_only=True`
# (such checkpoints also hold the optimiser's momenta), and TensorBoard's logs go to `folder / "logs"`.
#
# <details><summary>Hint</summary>
#
# Make a list of the two callbacks that every rank needs, then add the other two under `if hvd.rank() == 0:`. Those two take the path as their first argument.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add `tf.keras.callbacks.EarlyStopping("loss", patience=0)` to the list, first before and then after `MetricAverageCallback`. On each rank, print the number of epochs after which training stops.
#
# </details>


# %% role="answer" id="make-callbacks" tags=["script"]
def make_callbacks(folder):
    """Return this rank's callbacks for `fit`."""
    # about 8 lines
    ### BEGIN SOLUTION
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
    ### END SOLUTION


# %% role="readonly" id="callbacks-trial"
callbacks_trial = lab03_pieces.try_callbacks(make_callbacks, num_ranks=3)
print(callbacks_trial.error or "The callbacks ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="start-tests" points=1
with check("same start", section="7"):
    lab03_pieces.check_same_start(callbacks_trial)

# %% role="tests" id="metrics-tests" points=1
with check("averaged metrics", section="7"):
    lab03_pieces.check_metrics(callbacks_trial)

# %% role="tests" id="files-tests" points=1
with check("files", section="7"):
    lab03_pieces.check_files(callbacks_trial)
    ### BEGIN HIDDEN TESTS
    lab03_pieces.check_files(lab03_pieces.try_callbacks(make_callbacks, num_ranks=1))
    ### END HIDDEN TESTS

# %% [markdown] role="quiz" id="statistics-quiz"
# During training, batch normalisation keeps moving averages of the batches' statistics and uses them in validation. After the first step, what keeps these averages equal on all ranks?
#
# - [ ] The wrapped optimiser.
#   It averages gradients, but moving averages have no gradients: each rank updates them from its own batches.
# - [x] Nothing.
#   On each rank, they follow that rank's images, so they differ a little. The checkpoint holds rank 0's averages. A synchronised layer (hvd.SyncBatchNormalization) would share its statistics across the ranks, at the price of more communication.
# - [ ] `MetricAverageCallback`, after every epoch.
#   It averages the losses and metrics that an epoch reports, and does not touch the network's variables.
# - [ ] `BroadcastGlobalVariablesCallback`, after every epoch.
#   It does send the averages, along with all other variables, but only once, after the first batch.

# %% [markdown] role="readonly" id="resume-text"
# ## 8. Continue from a checkpoint (11 minutes)
#
# If a job reaches its time limit or a node fails, the next run should continue from the last checkpoint. With many ranks, there are two traps:
#
# - Sometimes only rank 0 can see the checkpoint, so rank 0 loads it and *broadcasts* the state. That must happen before the first step.
#   The broadcast callback runs after the first batch, which is too late: the other ranks would already have contributed the gradients of random weights to the average.
# - The optimiser's momenta are part of the state, too. They exist only after you have called `optimizer.build(variables)`; a broadcast before that call silently leaves them out.
#
# **Exercise (2 points).** Write `resume`: it loads the newest checkpoint in `folder`, if there is one, into the compiled `network` on *all* ranks, including the state of its optimiser.
# On all ranks, it returns the number of completed epochs, which is in the checkpoint's name, or 0 if there is no checkpoint.
#
# <details><summary>Hint</summary>
#
# First call `network.optimizer.build(network.trainable_variables)`. On rank 0, `tf.train.latest_checkpoint(folder)` returns a path such as `training/epoch-003`, or `None`, and `network.load_weights(path)` loads it.
# `hvd.broadcast_object(number, root_rank=0)` sends the number; `hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)` sends the state.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Keep the best checkpoint as well as the newest (`save_best_only=True`). Which of the two should a restart load, and which would you give to a user?
#
# </details>


# %% role="answer" id="resume" tags=["script"]
def resume(network, folder):
    """Load the newest checkpoint in the folder on all ranks; return the number of completed epochs."""
    # about 8 lines
    ### BEGIN SOLUTION
    network.optimizer.build(network.trainable_variables)
    num_epochs_done = 0
    checkpoint = tf.train.latest_checkpoint(folder) if hvd.rank() == 0 else None
    if checkpoint:
        network.load_weights(checkpoint)
        num_epochs_done = int(checkpoint.rsplit("-", maxsplit=1)[1])
    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
    return hvd.broadcast_object(num_epochs_done, root_rank=0)
    ### END SOLUTION


# %% role="tests" id="resume-tests" points=2
with check("continue", section="8"):
    lab03_training.check_resume(resume, num_ranks=3)

# %% [markdown] role="readonly" id="evaluate-text"
# ## 9. Validate on all ranks (8 minutes)
#
# Each rank validates on its own files, and then the results are combined. The obvious way is to average the ranks' accuracies, but this is *wrong* if the ranks hold different numbers of images:


# %% role="readonly" id="bias-picture" tags=["picture"]
num_right, num_pictures = np.array([90, 1]), np.array([100, 2])  # on ranks 0 and 1
print(f"mean of the ranks' accuracies: {np.mean(num_right / num_pictures):.0%}")
print(f"accuracy over all images:      {np.sum(num_right) / np.sum(num_pictures):.0%}")

# %% [markdown] role="readonly" id="evaluate-exercise-text"
# So combine *sums* over the ranks, not means: the sum of the losses, the number of correct predictions and the number of images. Keras keeps exactly these sums. After `network.evaluate(dataset, verbose=0)`, each `metric` in `network.metrics` has them in
# `metric.total` and `metric.count`.
#
# **Exercise (2 points).** Write `evaluate`, which returns the same dictionary on every rank. The dictionary maps each metric's `name` to its mean over the images of *all* ranks, as a float.
#
# <details><summary>Hint</summary>
#
# `hvd.allreduce(tensor, op=hvd.Sum)` sums a tensor over the ranks. Put all totals and counts into one tensor: `tf.stack([[metric.total, metric.count] for metric in network.metrics])`.
#
# </details>
#
# <details><summary>A trap</summary>
#
# Every rank must take part in a collective. An allreduce under `if hvd.rank() == 0:` never ends.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Compute a confusion matrix (`tf.math.confusion_matrix`) on each rank, and sum it over all ranks. Which classes does the network mistake for each other?
#
# </details>


# %% role="answer" id="evaluate" tags=["script"]
def evaluate(network, dataset):
    """Return the loss and the metrics over the data sets of all ranks together."""
    # about 4 lines
    ### BEGIN SOLUTION
    network.evaluate(dataset, verbose=0)
    sums = tf.stack([[metric.total, metric.count] for metric in network.metrics])
    sums = hvd.allreduce(sums, op=hvd.Sum).numpy()
    return {metric.name: float(total / count) for metric, (total, count) in zip(network.metrics, sums)}
    ### END SOLUTION


# %% role="tests" id="evaluate-tests" points=2
with check("validation", section="9"):
    lab03_training.check_evaluate(evaluate, num_ranks=3, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab03_training.check_evaluate(evaluate, num_ranks=2)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="train-text"
# ## 10. The whole training run (21 minutes)
#
# **Exercise (2 points).** Put everything together. `build()` makes the network (call it *after* pinning the GPU), and `settings` is a dictionary with the entries
# `batch_size`, `global_batch_size`, `learning_rate`, `num_warmup_epochs`, `num_epochs`, `max_num_steps` and `compression`.
#
# 1. Horovod is already initialised. Pin the GPU, build the network, and call `plan` with `imagenet.count_images(train_files)` as the number of images. A `max_num_steps` above 0 limits the number of steps in an epoch.
# 2. Compile with your optimiser, the loss `SparseCategoricalCrossentropy(from_logits=True)` from `tf.keras.losses` and the metric `"accuracy"`.
# 3. Resume, then call `fit` with `steps_per_epoch`, `epochs`, `initial_epoch` and all callbacks: first yours, then `WarmUp`, and finally the callbacks in `more_callbacks`, because these may make decisions. `verbose=0` keeps `fit` quiet.
# 4. Validate once, after `fit`: within `fit`, the ranks' results would be averaged without regard to how many images each rank has.
# 5. Return a dictionary with three entries: `"history"`, which is `history.history`; `"validation"`, the result of `evaluate`; and `"num_steps"`, the number of steps in an epoch.
#
# <details><summary>Hint</summary>
#
# The number of warm-up steps is the number of steps in an epoch times `num_warmup_epochs`. `more_callbacks` may be a list or a tuple, so join all callbacks as `[*make_callbacks(folder), WarmUp(…), *more_callbacks]`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Train with a `global_batch_size` of 32 on one rank and on two. How close are the two loss curves, and what still differs?
#
# </details>


# %% role="answer" id="train" tags=["script"]
def train(build, train_files, validation_files, folder, settings, more_callbacks=()):
    """Train on all ranks together; return the history, the validation result and the number of steps in an epoch."""
    # about 24 lines
    ### BEGIN SOLUTION
    pin_gpu()
    network = build()
    num_images = imagenet.count_images(train_files)
    batch_size, rate, num_steps = plan(
        num_images, settings["batch_size"], settings["learning_rate"], settings["global_batch_size"]
    )
    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
    network.compile(
        make_optimizer(rate, settings["compression"]),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    first_epoch = resume(network, folder)
    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
    history = network.fit(
        make_dataset(train_files, batch_size, training=True),
        steps_per_epoch=num_steps,
        epochs=settings["num_epochs"],
        initial_epoch=first_epoch,
        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
        verbose=0,
    )
    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
    return {"history": history.history, "validation": validation, "num_steps": num_steps}
    ### END SOLUTION


# %% role="readonly" id="train-trial"
train_trial = lab03_training.try_train(train, num_ranks=3)
print(train_trial.error or "The training ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="train-tests" points=1
with check("the whole training", section="10"):
    lab03_training.check_training(train_trial)
    ### BEGIN HIDDEN TESTS
    elastic = lab03_training.ELASTIC
    lab03_training.check_training(lab03_training.try_train(train, num_ranks=2, runs=[elastic]), elastic)
    ### END HIDDEN TESTS

# %% role="tests" id="continued-tests" points=1
with check("the training continues", section="10"):
    lab03_continued.check_continued(train_trial)
    lab03_continued.check_finished(train_trial)

# %% [markdown] role="readonly" id="main-text"
# ### The run
#
# Every rank runs `main`. The script `train.py` next to this notebook also calls this function. Start the script with `horovodrun -np 2 python train.py`, or in a job with `srun python train.py`.
# `coursekit script 03` writes that script with *your* answers.
#
# If `folder` holds an interrupted training run, that run continues. If it holds a finished run, the folder is moved to `<folder>-before`, and a new run begins.


# %% role="readonly" id="main" tags=["script"]
class Losses(tf.keras.callbacks.Callback):
    """Record the loss of every batch on this rank; on rank 0, print the loss and accuracy of each epoch."""

    def __init__(self):
        super().__init__()
        self.by_step = []

    def on_train_batch_end(self, batch, logs=None):
        before = self.total if batch else 0.0
        self.total = (batch + 1) * float(logs["loss"])  # Keras reports the mean of the epoch so far
        self.by_step.append(self.total - before)

    def on_epoch_end(self, epoch, logs=None):
        if hvd.rank() == 0:
            named = [f"{name} {logs[name]:.2f}" for name in ("loss", "accuracy") if name in logs]
            print(f"epoch {epoch + 1} of {self.params['epochs']}:", ", ".join(named), flush=True)


def main(name=model, more_callbacks=(), **changes):
    """Train on this rank and return the result, including the loss of every step and the speed of the steps."""
    hvd.init()
    spare_horovod()  # keeps AutoGraph from translating Horovod's own code, which shortens the first step
    tf.keras.mixed_precision.set_global_policy(precision)
    settings = {
        "batch_size": batch_size,
        "global_batch_size": global_batch_size,
        "learning_rate": learning_rate,
        "num_warmup_epochs": num_warmup_epochs,
        "num_epochs": num_epochs,
        "max_num_steps": max_num_steps,
        "compression": compression,
        "folder": folder,
        **changes,
    }
    where = imagenet.begin_training(settings["folder"], is_writer=hvd.rank() == 0, model=name, image_size=image_size)
    losses, step_times = Losses(), throughput.step_times(global_batch_size // hvd.size() or batch_size)
    result = train(
        lambda: build_network(name, image_size),
        train_files,
        validation_files,
        where,
        settings,
        [step_times, losses, *more_callbacks],
    )
    result["losses"] = losses.by_step
    if len(step_times.seconds) > 1:  # otherwise training had already ended
        result |= {"first_step_s": step_times.first_s, "images_per_s": step_times.images_per_s}
    if hvd.rank() == 0:
        imagenet.end_training(where, result)
    return result


# %% [markdown] role="readonly" id="run-text"
# The first step takes several seconds, because TensorFlow builds the graph of the whole network during this step. It is therefore measured separately.
#
# On CPUs, three settings make the steps faster:
#
# - `bind_cores=True` keeps each rank on its own cores. Otherwise the system moves ranks between cores, and Horovod's background threads get in their way. In a job, Slurm binds the ranks.
# - Once per *cycle*, by default every millisecond, Horovod's background thread looks for gradients to send, and this takes time away from computing. With `HOROVOD_CYCLE_TIME=10`, the thread looks only every 10 ms.
# - `num_groups = 1`, used in `make_optimizer`, sends one large message instead of many small ones.
#
# With `HOROVOD_TIMELINE`, rank 0 records what happens to each tensor, and when. Section 13 uses this timeline.

# %% role="readonly" id="run" tags=["picture"]
settings_of_ranks = {"HOROVOD_CYCLE_TIME": "10", "HOROVOD_TIMELINE": str(Path("timeline.json").absolute())}
limits = {"num_threads": num_threads, "bind_cores": True, "timeout_s": 60 * time_limit_min}
results = ranks.run(main, num_ranks=num_ranks, environ=settings_of_ranks, seed=seed, **limits)
print(f"first step {results[0]['first_step_s']:.1f} s, then {results[0]['images_per_s']:.0f} images/s on each rank")
print("validation:", {name: round(value, 3) for name, value in results[0]["validation"].items()})

# %% role="readonly" id="training-picture" tags=["picture"]
training_pictures.show_training(results, model)

# %% [markdown] role="readonly" id="interrupted-text"
# *Expected:* the loss falls, and the accuracy on the synthetic images is clearly above 12 %. Guessing would reach about 12 %, because there are eight classes.
#
# ## 11. When a node fails (4 minutes)
#
# In the next cell, a small network trains for two epochs, and one rank is killed in the middle of the second. The other ranks would wait for it forever, but `ranks.run` stops them and reports what happened.


# %% role="readonly" id="interrupted" tags=["picture"]
class KillOneRank(tf.keras.callbacks.Callback):
    """Kill the last rank in the middle of the second epoch, as a failing node would."""

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if self.epoch == 1 and batch == 2 and hvd.rank() == hvd.size() - 1:
            os.kill(os.getpid(), 9)


small = {"name": "SmallCNN", "num_epochs": 2, "max_num_steps": 5, "folder": tempfile.mkdtemp()}
try:
    quiet = {"HOROVOD_LOG_LEVEL": "fatal"}
    ranks.run(main, more_callbacks=[KillOneRank()], num_ranks=max(2, num_ranks), environ=quiet, **small, **limits)
except ranks.RankError as error:
    print(error)

# %% [markdown] role="readonly" id="continued-text"
# The next run finds the checkpoint of the first epoch and trains only the second epoch:

# %% role="readonly" id="continued" tags=["picture"]
continued = ranks.run(main, num_ranks=max(2, num_ranks), **small, **limits)[0]
print(f"epochs trained now: {len(continued['history']['loss'])}, losses:", np.round(continued["history"]["loss"], 2))

# %% [markdown] role="readonly" id="loop-text"
# ## 12. At home: your own training loop
#
# This section takes about 10 minutes, which do not count towards the lab's time. No later section depends on it.
#
# Without `fit`, the tape has to do the averaging. Wrap it with `hvd.DistributedGradientTape(tape)`, as in lab 02. An optimiser wrapped for Keras would average *nothing* in such a loop, because it averages in `minimize`, which only `fit` calls.
#
# For real networks, compile the step with `tf.function`. Create the compiled function *once*. If you define a `@tf.function` inside the loop, or pass it Python numbers, it is traced again in every step, which takes seconds each time.
# The step does not need AutoGraph, which turns Python's `if` and `for` into graph code. Turn it off with `autograph=False`: this also saves the time for translating Horovod's own code.
#
# **Exercise (1 point).** Write `make_step`: it returns a compiled function `step(pictures, labels)` that takes one step in training mode, with averaged gradients, and returns the loss of this rank's batch.
#
# <details><summary>Hint</summary>
#
# Define a function inside the function, with `@tf.function(autograph=False)` above it. It contains the lines that make up one step of your loop in section 8 of lab 02.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# Call `network(pictures, training=True)` inside the tape. After that, wrap the tape, and call `tape.gradient(…, network.trainable_variables)` and `optimizer.apply_gradients(zip(…, …))`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add up the gradients of four batches before each update. How often do the ranks have to communicate now, and what is the effective batch size?
#
# </details>


# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    """Return a compiled function that takes one training step on this rank's batch with averaged gradients."""

    # about 9 lines
    ### BEGIN SOLUTION
    @tf.function(autograph=False)
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
    ### END SOLUTION


# %% role="tests" id="make-step-tests" points=1
with check("a step of one's own", section="12"):
    lab03_updates.check_step(make_step, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab03_updates.check_step(make_step, num_ranks=2)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="throughput-text"
# ## 13. How fast is it? (4 minutes)
#
# *Throughput* is measured in images per second. *Scaling efficiency* is the throughput of N ranks divided by N times the throughput of one rank. Here, both throughputs are measured in the same way.
# The timeline shows what share of the time the ranks spent on sending gradients. Load `timeline.json` into `chrome://tracing` or Perfetto to see every message.


# %% role="readonly" id="throughput" tags=["picture"]
def measure_alone():
    """Return the images per second of a single rank that communicates with no other rank."""
    hvd.init()
    tf.keras.mixed_precision.set_global_policy(precision)
    network = build_network(model, image_size)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(make_optimizer(learning_rate), loss, metrics=["accuracy"])
    step_times = throughput.step_times(batch_size)
    dataset = make_dataset(train_files, batch_size, training=True)
    network.fit(dataset, steps_per_epoch=max_num_steps or 15, callbacks=[step_times], verbose=0)
    return step_times.images_per_s


alone = ranks.run(measure_alone, num_ranks=1, seed=seed, **limits)
# A single rank sends nothing.
share = throughput.communication_share("timeline.json") if num_ranks > 1 else 0.0
throughput.show_throughput(
    [
        throughput.Row(1, alone),
        throughput.Row(num_ranks, [result["images_per_s"] for result in results], share),
    ]
)
print(f"the first step, in which TensorFlow builds the graph, took {results[0]['first_step_s']:.1f} s")

# %% [markdown] role="readonly" id="end"
# On a laptop, both ranks share the memory and two cores. The images are small and quickly processed, so communication takes a larger share of the time than on GPUs with large images.
# Besides, a rank that runs alone can use the other core for its input pipeline.
#
# Ranks started from a notebook communicate over TCP (Horovod's *Gloo*). For a large network such as ResNet50, with 100 MB of gradients in every step, TCP takes longer than necessary.
# Within one node, MPI passes the gradients through memory. If you limit the messages to 2 MB, they stay in a core's cache:
#
# ```
# mpirun -np 2 --bind-to core -x HOROVOD_CYCLE_TIME=10 -x HOROVOD_FUSION_THRESHOLD=2097152 python train.py --model ResNet50
# ```
#
# ## What you can now do
#
# - feed every rank from its own files, without leaving out any images;
# - adapt Keras training to N ranks, including the optimiser, the callbacks, the learning rate and the number of steps;
# - continue an interrupted training run, and validate on all ranks without bias;
# - measure throughput and efficiency, and say where the time goes.
#
# **Further reading**
#
# - [Horovod with Keras](https://horovod.readthedocs.io/en/stable/keras.html): the callbacks and the optimiser, explained in Horovod's own documentation
# - [Better performance with the tf.data API](https://www.tensorflow.org/guide/data_performance): what each step of an input pipeline costs, and how to hide that cost
# - [Accurate, large minibatch SGD: training ImageNet in 1 hour](https://arxiv.org/abs/1706.02677): linear scaling and warm-up, and what went wrong along the way
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

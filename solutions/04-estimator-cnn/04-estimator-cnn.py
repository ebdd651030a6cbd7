# %% [markdown] role="readonly" id="intro"
# # Lab 04: Convolutional networks with the Estimator API
#
# **105 minutes, 20 points, two or more ranks.**
# This is lab 03 again, with the same files and the same networks. This time you train them through TensorFlow's older interface, the *Estimator*.
# A lot of code at computing centres still uses the Estimator, so you will come across it. TensorFlow 2.15 was the last version to include it, so you will also have to port such code.
#
# After this lab you can
#
# - write an input function and a model function for an Estimator, and adapt them from one process to many with Horovod;
# - give each rank's sessions their own GPU, and let only one rank write checkpoints;
# - continue and evaluate a training run, even if only one rank has the checkpoint;
# - train the same network with `tf.distribute.MultiWorkerMirroredStrategy` and `TF_CONFIG`.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer on real ranks and reports what is missing; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.
# The checks use a tiny network that records what it sees, so they take seconds, not minutes.

# %% [markdown] role="readonly" id="parameters-text"
# These parameters control the run. To train another network on other files, change them here, or run the notebook with
# `coursekit execute 04 -p model ResNet50 -p image_size 224 -p data /path/to/imagenet`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
model = "MobileNetV2"  # any network in tf.keras.applications, or SmallCNN
image_size = 64  # pixels
data = ""  # a folder of TFRecord files; '' for synthetic images
num_held_out = 2  # training files that are held out for evaluation
batch_size = 16  # images per rank and step
learning_rate = 0.01  # for one rank
num_epochs = 2
folder = "training"  # for checkpoints and summaries
num_threads = 1  # per rank; 0: as many as TensorFlow chooses
time_limit_min = 10  # minutes after which a run on ranks is stopped
seed = 1

# %% role="readonly" id="imports" tags=["script"]
import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages

# %% role="readonly" id="notebook-imports"
from coursekit import ranks

ranks.warm_up()  # starts importing TensorFlow and Horovod for the ranks while this process does the same

# %% role="readonly" id="library-imports" tags=["script"]
import functools

import coursekit.estimator  # provides tf.estimator on TensorFlow 2.16 and later; Horovod, imported next, looks for it
import horovod.tensorflow as hvd
import tensorflow as tf

from coursekit import imagenet
from coursekit.imagenet.networks import build_network

# %% role="readonly" id="checks-imports"
import json
import socket
import tempfile
import warnings
from pathlib import Path

import numpy as np

from coursekit.pictures import training as training_pictures
from coursekit.checks import check, hand_in_report, lab04_data, lab04_pieces, lab04_strategy, lab04_training

# The GPUs are for the ranks: in this process, TensorFlow would take all the memory of a GPU.
tf.config.set_visible_devices([], "GPU")

limits = {"num_threads": num_threads, "bind_cores": True, "timeout_s": 60 * time_limit_min}  # for every run on ranks

# %% [markdown] role="readonly" id="files-text"
# ## 1. The files (5 minutes)
#
# The data are the same as in lab 03: TFRecord files in ImageNet format. Keep ImageNet's own validation files for the end of your project.
# To see how good a network is while you are still working on it, set aside some of the *training* files. These files are *held out*, that is, never used for training.

# %% role="readonly" id="find-files" tags=["script"]
data_folder = imagenet.find_data(data)
files = imagenet.list_files(data_folder, "train")

# %% [markdown] role="readonly" id="split-text"
# It is easy to get a split wrong without anyone noticing. One published course used "the files with numbers below 1000" for training and those "above 1000" for testing, so file 1000 was in neither part.
# The opposite mistake is worse: if a file is in both parts, the network is tested on images that it was trained on.
#
# **Exercise (1 point).** Write `split_files`. It holds out the last `num_held_out` files. That may be none of the files, or all of them.
#
# <details><summary>Hint</summary>
#
# Take one slice that ends at a position in the list, and another that starts at *the same* position. What is `files[:-0]`?
#
# </details>
#
# <details><summary>A second hint</summary>
#
# `files[:-0]` is the empty list, because `-0` is 0. So count the position from the front: `len(files) - num_held_out`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Hold out random files instead of the last ones. What must then be the same on all ranks?
#
# </details>


# %% role="answer" id="split-files" tags=["script"]
def split_files(files, num_held_out):
    """Return two lists: the files for training, and the files that are held out."""
    # about 2 lines
    ### BEGIN SOLUTION
    place = len(files) - num_held_out
    return files[:place], files[place:]
    ### END SOLUTION


# %% role="tests" id="split-tests" points=1
with check("split of the files", section="1"):
    lab04_data.check_split_files(split_files, [(16, 2), (5, 1)])
    ### BEGIN HIDDEN TESTS
    lab04_data.check_split_files(split_files, [(1024, 24), (7, 3), (2, 1), (4, 0), (3, 3)])
    ### END HIDDEN TESTS

# %% role="readonly" id="split-picture" tags=["picture"]
for name, part in zip(("training", "held out"), split_files(files, num_held_out)):
    print(f"{name}: {len(part)} files with {imagenet.count_images(part)} images, the last is {Path(part[-1]).name}")

# %% [markdown] role="readonly" id="input-text"
# ## 2. The input function (11 minutes)
#
# You give an Estimator a function that makes a data set, not the data set itself, because the Estimator builds a new graph for each training run and each evaluation.
#
# The steps from a file to a batch are the same as in lab 03 and are given here. Each training image is cropped with random numbers derived from `seed` and from the image's position in the data, so two runs see exactly the same images.


# %% role="readonly" id="read-files" tags=["script"]
def load_picture(record, training, image_size, numbers):
    """Return a record's image, with pixels from -1 to 1, and its label; `numbers` seed the random crop for training."""
    encoded, label = imagenet.parse_record(record)
    shape = tf.io.extract_jpeg_shape(encoded)
    if training:
        begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
            shape, tf.zeros((1, 0, 4)), numbers, area_range=(0.4, 1.0), use_image_if_no_bounding_boxes=True
        )
        window = tf.concat([begin[:2], size[:2]], axis=0)
    else:
        side = tf.minimum(shape[0], shape[1])
        window = tf.stack([(shape[0] - side) // 2, (shape[1] - side) // 2, side, side])
    picture = tf.io.decode_and_crop_jpeg(encoded, window, channels=3)
    picture = tf.image.resize(picture, (image_size, image_size)) / 127.5 - 1
    return tf.image.stateless_random_flip_left_right(picture, numbers) if training else picture, label


def read_files(files):
    """Return the records of the files, interleaved from several files at a time."""
    return tf.data.Dataset.from_tensor_slices(files).interleave(imagenet.read_records, cycle_length=4)


def make_batches(records, training, params):
    """Return batches of images and labels; for training, all batches are full."""
    load = lambda number, record: load_picture(record, training, params["image_size"], (params["seed"], number))
    dataset = records.enumerate().map(load, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(params["batch_size"], drop_remainder=training).prefetch(tf.data.AUTOTUNE)


# %% [markdown] role="readonly" id="input-exercise-text"
# You write the part that these three functions leave out:
#
# - Each *worker* reads its own files. `worker` is its number, counted from 0, and `num_workers` is the number of workers. With Horovod, a worker is a rank; in section 8, it is a process of TensorFlow's own strategy. So the function gets both numbers as arguments and must not ask Horovod for them.
# - For training, records are shuffled in a buffer of 1000 with the seed `params["seed"]`, which is the same on all workers, and *then* repeated without end. For evaluation, every image is used exactly once.
#
# **Exercise (3 points).** Write `input_fn`.
#
# <details><summary>Hint</summary>
#
# First slice the list of files with a step (`files[start::step]`). Then call `read_files`; for training, add `.shuffle(buffer, seed=…)` and `.repeat()`; finally, call `make_batches`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Take one batch as worker 0 of 2 and another as worker 1, and count the labels in each with `np.unique`. Would you notice if a worker got only one class?
#
# </details>


# %% role="answer" id="input-fn" tags=["script"]
def input_fn(files, training, worker, num_workers, params):
    """Return this worker's batches of images and labels; for training, they never end."""
    # about 4 lines
    ### BEGIN SOLUTION
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)
    ### END SOLUTION


# %% role="readonly" id="input-trial"
input_trial = lab04_data.try_input_fn(input_fn, num_workers=3)
print(input_trial.error or "The input function ran as each of three workers; now the checks.")

# %% role="tests" id="input-shards-tests" points=2
with check("shards", section="2"):
    lab04_data.check_shards(input_trial)
    ### BEGIN HIDDEN TESTS
    lab04_data.check_shards(lab04_data.try_input_fn(input_fn, num_workers=4))
    ### END HIDDEN TESTS

# %% role="tests" id="input-modes-tests" points=1
with check("data for training and for evaluation", section="2"):
    lab04_data.check_modes(input_trial)

# %% [markdown] role="readonly" id="model-text"
# ## 3. The model function (28 minutes)
#
# The heart of an Estimator is its model function. The function gets a batch and a *mode*, and returns an `EstimatorSpec` that says what to do with the batch:
#
# | mode | purpose | contents of the specification |
# | --- | --- | --- |
# | `tf.estimator.ModeKeys.TRAIN` | one training step | `loss`, `train_op` |
# | `tf.estimator.ModeKeys.EVAL` | loss and metrics | `loss`, `eval_metric_ops` |
# | `tf.estimator.ModeKeys.PREDICT` | predictions; `labels` is `None` | `predictions` |
#
# The Estimator is older than eager execution, so this function is called once for each graph, not once for each step. It only builds parts of the graph, with `tf.compat.v1`.
#
# Four things are easy to forget, and you get no error if you forget them:
#
# 1. **Training mode.** The flag in `network(features, training=…)` must be true *only* in training. Otherwise, batch normalisation uses the statistics of the batch during evaluation, and the prediction for an image depends on the other images in its batch. Section 6 shows how large this effect is.
# 2. **Updates.** Batch normalisation keeps moving averages for evaluation. In a graph, the averages change only if the training step depends on their updates, which `network.get_updates_for(features)` returns.
# 3. **Average.** `hvd.DistributedOptimizer(optimizer)` wraps an optimiser from `tf.compat.v1.train` so that it averages the gradients over all ranks. Do not wrap a Keras optimiser with it: Horovod would then use its Keras module, and ignore `op` and `groups`. `groups=1` sends all gradients as one message, as in lab 03, and makes the graph smaller. It does not change the result.
# 4. **Rate.** `params["learning_rate"]` is the rate for one rank; multiply it by the number of ranks, as in lab 02.
#
# **Exercise (4 points).** Write `model_fn`. `params["build"]()` builds a network that returns logits.
# Use the optimiser `tf.compat.v1.train.MomentumOptimizer` with a momentum of 0.9, and add nothing else: no weight decay, no clipping, no schedule, no label smoothing.
# The metrics must contain `"accuracy"`, and the predictions must contain `"classes"`. Ranks may wait for each other only in TRAIN mode, because rank 0 may evaluate alone in section 6.
#
# <details><summary>Hint: the parts</summary>
#
# `tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)`; `tf.argmax(logits, axis=1)`; `tf.compat.v1.metrics.accuracy(labels, classes)`;
# `optimizer.minimize(loss, tf.compat.v1.train.get_global_step())`: pass the global step, or training never ends.
#
# </details>
#
# <details><summary>Hint: the updates</summary>
#
# `with tf.control_dependencies(network.get_updates_for(features)):` around `minimize` makes every step wait for the updates.
# Alternatively, use `tf.group(optimizer.minimize(…), updates)` as the `train_op`.
# (Do not use `network.updates`: it also contains updates from the call in which Keras built the network, and these have no images to work on.)
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Add a second metric, the share of images whose label is among the top five predictions: use `tf.math.in_top_k` with `tf.compat.v1.metrics.mean`.
#
# </details>


# %% role="answer" id="model-fn" tags=["script"]
def model_fn(features, labels, mode, params):
    """Return an EstimatorSpec that says what to do with a batch in this mode."""
    # about 16 lines
    ### BEGIN SOLUTION
    training = mode == tf.estimator.ModeKeys.TRAIN
    network = params["build"]()
    logits = network(features, training=training)
    classes = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    rate = params["learning_rate"] * hvd.size()
    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
    with tf.control_dependencies(network.get_updates_for(features)):
        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    ### END SOLUTION


# %% role="readonly" id="model-trial"
model_trial = lab04_pieces.try_model_fn(model_fn, num_ranks=4)
print(model_trial.error or "The model function ran on four ranks of two nodes; now the checks.")

# %% role="tests" id="model-modes-tests" points=1
with check("modes", section="3"):
    lab04_pieces.check_modes(model_trial)

# %% role="tests" id="model-average-tests" points=1
with check("averaged gradients", section="3"):
    lab04_pieces.check_averaged(model_trial)
    ### BEGIN HIDDEN TESTS
    lab04_pieces.check_averaged(model_trial.on(2))
    ### END HIDDEN TESTS

# %% role="tests" id="model-rate-tests" points=1
with check("learning rate", section="3"):
    lab04_pieces.check_rate(model_trial)
    ### BEGIN HIDDEN TESTS
    lab04_pieces.check_rate(model_trial.on(2))
    ### END HIDDEN TESTS

# %% role="tests" id="model-updates-tests" points=1
with check("moving averages", section="3"):
    lab04_pieces.check_statistics(model_trial)

# %% [markdown] role="quiz" id="updates-quiz"
# A model function leaves out the updates of batch normalisation. Where do you notice this?
#
# - [ ] In the first step, which raises an error.
#   Nothing depends on the updates, so the graph is complete without them, and TensorFlow has nothing to complain about.
# - [ ] In the training loss, which does not fall.
#   In training mode, the layers use the statistics of the current batch, so training does not need the moving averages and looks normal.
# - [x] Only in the evaluation, which gives bad results.
#   Evaluation uses the moving averages, which are still at their initial values, 0 and 1. Training looked fine all along.

# %% [markdown] role="readonly" id="config-text"
# ## 4. The configuration (10 minutes)
#
# An Estimator opens its own *sessions*, and a session ignores `tf.config`. Each session has its own configuration, a `tf.compat.v1.ConfigProto`,
# which you pass to the Estimator inside a `tf.estimator.RunConfig`.
#
# To pin a GPU in this configuration, give its number *as text*: `gpu_options.visible_device_list = "0"`. With `gpu_options.allow_growth = True`, TensorFlow takes memory only as it needs it.
#
# The `RunConfig` also names the folder for checkpoints and summaries, the `model_dir`. All ranks hold the same weights, so one copy is enough. Besides, two ranks that write to the same folder destroy each other's files.
# A rank without a `model_dir` gets its own empty temporary folder. It does not need to write checkpoints there: `save_checkpoints_steps=None, save_checkpoints_secs=None` turns checkpoints off.
#
# `new_session_config()` below makes such a configuration. On CPUs, it stops TensorFlow from rewriting each graph before its first step.
# For a network with hundreds of layers, rewriting takes many seconds, and a short run does not win that time back.


# %% role="readonly" id="new-session-config" tags=["script"]
def new_session_config():
    """Return a session configuration that allows graph rewriting only on GPUs, where it pays off."""
    session_config = tf.compat.v1.ConfigProto()
    has_gpu = bool(tf.config.list_physical_devices("GPU"))
    session_config.graph_options.rewrite_options.disable_meta_optimizer = not has_gpu
    return session_config


# %% [markdown] role="readonly" id="config-exercise-text"
# **Exercise (2 points).** Write `make_run_config`. Rank 0 saves a checkpoint every 100 steps; on all ranks, `tf_random_seed` is the parameter `seed`.
#
# <details><summary>Hint</summary>
#
# Start with `session_config = new_session_config()`, then set its options. Which number is the index of a GPU on the node, the rank or the local rank?
# `tf.estimator.RunConfig(model_dir=…, session_config=…, save_checkpoints_steps=…)`; `None` leaves the `model_dir` unset.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Keep only the three newest checkpoints and write a summary every ten steps, with `keep_checkpoint_max` and `save_summary_steps`. Look at the folder after a run.
#
# </details>


# %% role="answer" id="make-run-config" tags=["script"]
def make_run_config(folder):
    """Return this rank's RunConfig with its GPU and, on rank 0, the folder for checkpoints and summaries."""
    # about 7 lines
    ### BEGIN SOLUTION
    session_config = new_session_config()
    session_config.gpu_options.visible_device_list = str(hvd.local_rank())
    session_config.gpu_options.allow_growth = True
    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
    silent = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, "save_summary_steps": None}
    files = writing if hvd.rank() == 0 else silent
    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed, **files)
    ### END SOLUTION


# %% role="readonly" id="config-trial"
config_trial = lab04_pieces.try_config(make_run_config, num_ranks=4, ranks_per_node=2)
print(config_trial.error or "The configuration was used on four ranks of two nodes; now the checks.")

# %% role="tests" id="config-pin-tests" points=1
with check("GPU pinning", section="4"):
    lab04_pieces.check_pinned(config_trial, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab04_pieces.check_pinned(config_trial.on(3), ranks_per_node=3)
    ### END HIDDEN TESTS

# %% role="tests" id="config-files-tests" points=1
with check("files and seed", section="4"):
    lab04_pieces.check_files(config_trial, seed)
    ### BEGIN HIDDEN TESTS
    lab04_pieces.check_files(config_trial.on(3), seed)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="train-text"
# ## 5. Training (20 minutes)
#
# `estimator.train(function, hooks=[…], max_steps=…)` trains the network. *Hooks* are the Estimator's equivalent of Keras callbacks. One of Horovod's hooks matters here:
# `hvd.BroadcastGlobalVariablesHook(0)` sends the variables of rank 0 to all ranks before the first step.
#
# One of these variables is the *global step*, the number of steps taken so far. So this is how an interrupted run continues: rank 0 finds a checkpoint in its `model_dir` and loads it. The hook then sends the weights, the momenta and the global step to all other ranks.
# With `max_steps`, all ranks then stop at the same step.
#
# There is one exception. If training has already *ended*, rank 0 sees from its checkpoint that no steps are left and returns at once. The other ranks have no checkpoint, so they start training and wait for a broadcast that never comes.
# So rank 0 must first tell the others how many steps are done:


# %% role="readonly" id="num-steps-done" tags=["script"]
def start():
    """Initialise Horovod, and pin the GPU for code that runs outside sessions, such as `hvd.broadcast_object`."""
    tf.get_logger().setLevel("ERROR")  # an Estimator logs everything, and warns in every line that it will be removed
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
        tf.config.experimental.set_memory_growth(gpus[hvd.local_rank()], True)


def num_steps_done(folder):
    """Return the number of steps taken before the newest checkpoint in the folder, or 0 if there is none."""
    checkpoint = tf.train.latest_checkpoint(folder)
    return int(tf.train.load_variable(checkpoint, "global_step")) if checkpoint else 0


# %% [markdown] role="readonly" id="train-exercise-text"
# **Exercise (5 points).** Write `train`. Horovod is already initialised.
#
# - Make the Estimator with your `model_fn` and `params`, and *pass your configuration to it*: `config=make_run_config(folder)`. One published course made a configuration and pinned the GPU in it, but never passed it to the Estimator.
# - `num_steps` is the number of steps that *one* process would take. N ranks use N times as many images per step, so divide the number of steps by N.
# - Get the number of completed steps from rank 0. If any steps are left, train on this rank's files through your `input_fn`, with the broadcast hook and all the hooks in `hooks`.
# - Return the Estimator.
#
# <details><summary>Hint</summary>
#
# `tf.estimator.Estimator(model_fn, config=…, params=…)`. `hvd.broadcast_object(num_steps_done(folder), root_rank=0)` returns rank 0's result on every rank.
# The input function must take no arguments: `lambda: input_fn(files, True, hvd.rank(), hvd.size(), params)`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write a hook: a subclass of `tf.estimator.SessionRunHook` with the methods `before_run` and `after_run`. On rank 0, it prints how many seconds every tenth step takes.
#
# </details>


# %% role="answer" id="train" tags=["script"]
def train(files, folder, num_steps, params, hooks=()):
    """Train on all ranks for the remaining steps; return the Estimator. `num_steps` is the number for one process."""
    # about 8 lines
    ### BEGIN SOLUTION
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    num_steps = num_steps // hvd.size()
    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
            max_steps=num_steps,
        )
    return estimator
    ### END SOLUTION


# %% role="readonly" id="train-trial"
train_trial = lab04_training.try_train(train, num_ranks=4)
print(train_trial.error or "The training ran on four ranks of two nodes; now the checks.")

# %% role="tests" id="train-start-tests" points=1
with check("same start (train)", section="5"):
    lab04_training.check_start(train_trial)

# %% role="tests" id="train-shards-tests" points=1
with check("shards (train)", section="5"):
    lab04_training.check_shards(train_trial)
    ### BEGIN HIDDEN TESTS
    lab04_training.check_shards(train_trial.on(2))
    ### END HIDDEN TESTS

# %% role="tests" id="train-steps-tests" points=1
with check("number of steps (train)", section="5"):
    lab04_training.check_steps(train_trial)
    ### BEGIN HIDDEN TESTS
    lab04_training.check_steps(train_trial.on(2))
    ### END HIDDEN TESTS

# %% role="tests" id="train-config-tests" points=1
with check("configuration handed over (train)", section="5"):
    lab04_training.check_handed_over(train_trial)

# %% role="tests" id="train-continued-tests" points=1
with check("the training continues (train)", section="5"):
    lab04_training.check_continued(train_trial)

# %% [markdown] role="quiz" id="checkpoint-quiz"
# A training run was interrupted after 400 steps, and only rank 0 has the checkpoint. The run is started again. What makes *all* ranks continue at step 400 with the same weights?
#
# - [x] The broadcast hook.
#   Rank 0 first restores its session from the checkpoint; then the hook sends all its variables, including weights, momenta and the global step.
# - [ ] Each rank loads the checkpoint from the folder.
#   Only rank 0 has a model_dir. The others begin with random weights at step 0, and on another node they may not even see the folder.
# - [ ] The wrapped optimiser, in its first step.
#   It only averages gradients. If you add equal updates to different weights, the weights still differ. Besides, the other ranks would count their steps from 0.

# %% [markdown] role="readonly" id="evaluate-text"
# ## 6. Evaluation (12 minutes)
#
# If every rank evaluates all images, N ranks do N times the work to get one number. There are two correct ways:
#
# - **Rank 0 alone** evaluates all images, and the others wait. This is simple, and good enough if the evaluation is short. Do not call a collective inside the evaluation, because the other ranks would not take part.
# - **Each rank evaluates its own files**, which is N times as fast. If you choose this way, take care of two things:
#   - All ranks need the weights. Without a checkpoint in its `model_dir`, an Estimator evaluates *random* weights and only mentions this in its log. So rank 0 sends the others the path of its checkpoint, `estimator.latest_checkpoint()`.
#   - The shards are *unequal*, so the plain mean of the ranks' accuracies is wrong. Weight each accuracy by the number of images in its shard, as in lab 03.
#
# **Exercise (2 points).** Write `evaluate` in one of these two ways. At least on rank 0, it returns a dictionary with the `"accuracy"` over all images.
#
# <details><summary>Hint: rank 0 alone</summary>
#
# Call `estimator.evaluate(lambda: input_fn(files, False, 0, 1, params))` under an `if`. Worker 0 of 1 reads all files.
#
# </details>
#
# <details><summary>Hint: each rank evaluates its own files</summary>
#
# Call `estimator.evaluate(function, checkpoint_path=…)` with the path from `hvd.broadcast_object`. `imagenet.count_images(files)` counts the images.
# Sum two counts over the ranks, the correctly classified images and all images: `hvd.allreduce(tf.constant([…]), op=hvd.Sum)`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write `evaluate` the other way as well, and compare the times. How many held-out files must there be before it pays off to evaluate on all ranks?
#
# </details>


# %% role="answer" id="evaluate" tags=["script"]
def evaluate(estimator, files, params):
    """Return the accuracy over all images in the files as {"accuracy": …}, at least on rank 0."""
    # about 7 lines
    ### BEGIN SOLUTION
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    accuracy = estimator.evaluate(own, checkpoint_path=checkpoint)["accuracy"]
    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
    num_right, num_pictures = hvd.allreduce(tf.constant([accuracy * num_pictures, num_pictures]), op=hvd.Sum)
    return {"accuracy": float(num_right / num_pictures)}
    ### END SOLUTION


# %% role="readonly" id="evaluate-trial"
evaluate_trial = lab04_training.try_evaluate(evaluate, num_ranks=4)
print(evaluate_trial.error or "The evaluation ran on four ranks of two nodes; now the checks.")

# %% role="tests" id="evaluate-once-tests" points=1
with check("evaluated once", section="6"):
    lab04_training.check_once(evaluate_trial)

# %% role="tests" id="evaluate-accuracy-tests" points=1
with check("accuracy of all shards", section="6"):
    lab04_training.check_accuracy(evaluate_trial)

# %% [markdown] role="readonly" id="main-text"
# ### The run
#
# Every rank runs `main`. The script `train.py` next to this notebook also calls this function. Start the script with `horovodrun -np 2 python train.py`, or in a job with `srun python train.py`.
# `coursekit script 04` writes that script with *your* answers.
#
# If `folder` holds an interrupted training run, that run continues. If it holds a finished run, the folder is moved to `<folder>-before`, and a new run begins.


# %% role="readonly" id="main" tags=["script"]
params = {
    "build": functools.partial(build_network, model, image_size),
    "image_size": image_size,
    "batch_size": batch_size,
    "learning_rate": learning_rate,
    "seed": seed,
}


class LossHistory(tf.estimator.SessionRunHook):
    """Keep the loss of every step; on rank 0, print every twentieth loss."""

    def __init__(self):
        self.losses = []

    def before_run(self, run_context):
        # The Estimator adds the loss of the EstimatorSpec to this collection last.
        losses = run_context.session.graph.get_collection(tf.compat.v1.GraphKeys.LOSSES)
        return tf.estimator.SessionRunArgs(losses[-1])

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))
        if hvd.rank() == 0 and len(self.losses) % 20 == 0:
            print(f"{len(self.losses)} steps: loss {self.losses[-1]:.2f}", flush=True)


def main():
    """Train and evaluate on this rank; return the number of steps, the loss of each step and the accuracy."""
    start()
    training_files, held_out_files = split_files(files, num_held_out)
    num_steps = num_epochs * imagenet.count_images(training_files) // batch_size
    history = LossHistory()
    where = imagenet.begin_training(folder, is_writer=hvd.rank() == 0, model=model, image_size=image_size)
    estimator = train(training_files, str(where), num_steps, params, hooks=[history])
    accuracy = evaluate(estimator, held_out_files, params) or {}
    result = {"num_steps": num_steps // hvd.size(), "losses": history.losses, **accuracy}
    if hvd.rank() == 0:
        imagenet.end_training(where, result)
    return result


# %% role="readonly" id="training-picture" tags=["picture"]
results = ranks.run(main, num_ranks=num_ranks, seed=seed, environ={"HOROVOD_CYCLE_TIME": "10"}, **limits)
training_pictures.show_run(results, model)

# %% [markdown] role="readonly" id="run-text"
# *Expected:* the loss starts at about 7, the logarithm of the number of classes, and falls.
# The accuracy is above 12 %. On the synthetic images, guessing would reach about 12 %, because there are eight classes.
#
# ### What training mode does to an evaluation
#
# If a network stays in training mode during an evaluation, it makes different predictions. The next cell classifies 64 of the held-out images with the weights of the checkpoint, in both modes and in batches of different sizes:


# %% role="readonly" id="mode-picture" tags=["picture"]
def accuracies(sizes):
    """Return the accuracy on held-out images for each mode and batch size."""
    start()
    network = build_network(model, image_size)
    checkpoint = tf.train.latest_checkpoint(folder)
    for variable in network.variables:
        variable.assign(tf.train.load_variable(checkpoint, variable.name.split(":")[0]))
    dataset = input_fn(split_files(files, num_held_out)[1], False, 0, 1, {**params, "batch_size": 64})
    pictures, labels = next(iter(dataset))
    found = {}
    for training in (False, True):
        for size in sizes:
            batches = [network(pictures[n : n + size], training=training) for n in range(0, len(labels), size)]
            right = np.argmax(np.concatenate(batches), axis=1) == labels.numpy()
            found[training, size] = float(np.mean(right))
    return found


training_pictures.show_modes(ranks.run(accuracies, (4, 16, 64), num_ranks=1, **limits)[0])

# %% [markdown] role="readonly" id="mode-text"
# *Expected:* in evaluation mode, all batch sizes give the same accuracy. In training mode, the accuracy depends on the batch size, although images and weights are the same. It is poor with small batches,
# and with large batches it may even look better than in evaluation mode. But the prediction for an image must not depend on the other images in its batch, and a user of the network may have only one image.
#
# ## 7. At home: from Keras to an Estimator
#
# This section takes about 3 minutes, which do not count towards the lab's time. No later section needs it.
#
# You do not have to write a model function: `tf.keras.estimator.model_to_estimator` makes an Estimator from a compiled Keras model. This function takes care of modes and updates.
# But you still have to add Horovod's wrapper, the broadcast hook and the rest yourself, and the optimiser must be a legacy optimiser.


# %% role="readonly" id="converted" tags=["picture"]
def converted():
    """Train a converted network for a few steps in one process; return its metrics."""
    start()
    warnings.simplefilter("ignore")  # Keras warns about calls that the conversion itself makes
    network = build_network("SmallCNN", image_size)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(tf.keras.optimizers.legacy.SGD(0.05, momentum=0.9), loss, metrics=["accuracy"])
    estimator = tf.keras.estimator.model_to_estimator(network, model_dir=tempfile.mkdtemp())
    estimator.train(lambda: input_fn(files[1:], True, 0, 1, params), steps=20)
    return estimator.evaluate(lambda: input_fn(files[:1], False, 0, 1, params))


print({name: round(float(value), 3) for name, value in ranks.run(converted, num_ranks=1, **limits)[0].items()})

# %% [markdown] role="readonly" id="end-of-api-text"
# ## 8. Why the Estimator ended, and what comes after (19 minutes)
#
# You have seen why the Estimator ended: each mode has a separate graph, and your function is called only to build it. You cannot look inside the graph while it runs,
# and a wrong mode or a missing update raises no error.
# With eager execution and Keras, you need none of this. TensorFlow 2.15 is the last version with `tf.estimator`.
# With later versions, the line `import coursekit.estimator` near the top takes `tf.estimator` from the package tensorflow-estimator, which still works with TensorFlow 2.21.
# Nobody maintains that package any more. It buys you time, but you still have to port your code.
#
# One idea has survived: *each process learns from outside which processes take part in the training*. Horovod gets this information from its launcher. TensorFlow itself reads it from the environment variable `TF_CONFIG`, which holds JSON with two parts:
#
# - `"cluster"`: the list of addresses (`host:port`) for each kind of process; here, `{"worker": [...]}`. This part is the same for all processes.
# - `"task"`: the role of *this* process, such as `{"type": "worker", "index": 0}`.
#
# **Exercise (1 point).** Write `tf_config`. It returns this JSON text for worker number `index`; `hosts` lists the addresses of all workers. It must not set the variable: in the code below, each worker does that itself.
#
# <details><summary>Hint</summary>
#
# `json.dumps(…)` turns dictionaries and lists into text.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A cluster may also have a `"chief"`. Look up what a chief does in addition to a worker's tasks. Your cluster has no chief, so which process takes on these additional tasks?
#
# </details>


# %% role="answer" id="tf-config"
def tf_config(hosts, index):
    """Return the value of TF_CONFIG for one worker; `hosts` is the list of all workers' addresses."""
    # about 1 line
    ### BEGIN SOLUTION
    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
    ### END SOLUTION


# %% role="tests" id="tf-config-tests" points=1
with check("TF_CONFIG", section="8"):
    lab04_pieces.check_tf_config(tf_config, num_workers=3)
    ### BEGIN HIDDEN TESTS
    lab04_pieces.check_tf_config(tf_config, num_workers=5)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="strategy-text"
# `tf.distribute.MultiWorkerMirroredStrategy()` reads `TF_CONFIG` and connects the workers. Create the strategy before TensorFlow computes anything in the process. Then
#
# - the network and the optimiser, created inside `with strategy.scope():`, exist once on each worker and are kept equal: this replaces the broadcast;
# - `fit` averages the gradients over the workers: this replaces the wrapped optimiser;
# - `strategy.distribute_datasets_from_function(function)` asks each worker for its data; `function` gets a `context` with `context.input_pipeline_id`, the worker's number, and `context.num_input_pipelines`, the number of workers;
# - `strategy.num_replicas_in_sync` is the number of workers (times the number of GPUs per worker).
#
# **Exercise (2 points).** Write `train_with_strategy`. It trains the network as in section 5, with your `input_fn`, but in Keras. Every worker calls this function, and `TF_CONFIG` is already set.
# Here, too, add nothing else, and do not use Horovod: you find the numbers that you need in the strategy and the context. Pass `callbacks` on to `fit`; one of the callbacks records the losses for the picture below.
#
# <details><summary>Hint</summary>
#
# `num_steps` and the rate are for one process. Section 5 divides the steps by the number of ranks and multiplies the rate by it; here, workers take the place of ranks.
#
# </details>
#
# <details><summary>A second hint</summary>
#
# In the scope: `params["build"]()`, `tf.keras.optimizers.SGD(rate, momentum=0.9)`, and `network.compile` with the loss `SparseCategoricalCrossentropy(from_logits=True)` from `tf.keras.losses`.
# Outside: `strategy.distribute_datasets_from_function(lambda context: …)`, and `network.fit(dataset, steps_per_epoch=…, verbose=0, callbacks=…)`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Save the weights at the end. Why does TensorFlow require *all* workers to call `save`, each with a separate folder?
#
# </details>


# %% role="answer" id="train-with-strategy"
def train_with_strategy(files, num_steps, params, callbacks=()):
    """Train on all workers together; `num_steps` is the number of steps that one process would take."""
    # about 10 lines, in this order:
    # - the strategy, and the number of workers
    # - in its scope: the network, the optimiser with the scaled rate, compile
    # - each worker's data, from your input_fn
    # - fit, with each worker's share of the steps
    ### BEGIN SOLUTION
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    num_workers = strategy.num_replicas_in_sync
    with strategy.scope():
        network = params["build"]()
        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
        network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset = strategy.distribute_datasets_from_function(
        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
    )
    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
    ### END SOLUTION


# %% role="readonly" id="strategy-trial"
strategy_trial = lab04_strategy.try_strategy(train_with_strategy, num_ranks=3)
print(strategy_trial.error or "The strategy trained on three workers; now the checks.")

# %% role="tests" id="strategy-together-tests" points=1
with check("one training (strategy)", section="8"):
    lab04_strategy.check_together(strategy_trial)

# %% role="tests" id="strategy-plan-tests" points=1
with check("rate and steps (strategy)", section="8"):
    lab04_strategy.check_plan(strategy_trial)

# %% [markdown] role="readonly" id="same-text"
# The next cell compares the two approaches: it trains the small network for ten steps with Horovod and the Estimator, then for ten steps with the strategy. Both runs start from the same weights and use the same images in the same order.
# The workers are separate processes. Each worker first finds a free port, because a fixed port may be in use on a shared machine. Here, Horovod is used only to number the workers; in a job, you would use `SLURM_PROCID` for that.


# %% role="readonly" id="same-picture" tags=["picture"]
class BatchLosses(tf.keras.callbacks.Callback):
    """Keep the loss of every step, averaged over the workers."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        # Within an epoch, Keras reports the sum over the workers.
        self.losses.append(logs["loss"] / self.model.distribute_strategy.num_replicas_in_sync)
        self.model.reset_metrics()  # otherwise the next loss would be a mean over all steps so far


def free_address():
    """Return an address for this process: its host and a free port."""
    host = os.environ.get("SLURMD_NODENAME", "127.0.0.1")
    with socket.socket() as any_port:
        any_port.bind((host, 0))
        return f"{host}:{any_port.getsockname()[1]}"


def with_horovod(where, num_steps):
    start()
    history = LossHistory()
    train(files, where, num_steps * hvd.size(), {**params, "build": small}, hooks=[history])
    return history.losses


def from_checkpoint(checkpoint):
    """Return the small network with the weights of a checkpoint."""
    network = small()
    for variable in network.variables:
        variable.assign(tf.train.load_variable(checkpoint, variable.name.split(":")[0]))
    return network


def with_strategy(hosts, checkpoint, num_steps):
    hvd.init()
    os.environ["TF_CONFIG"] = tf_config(hosts, hvd.rank())
    tf.random.set_seed(seed)
    history = BatchLosses()
    build = functools.partial(from_checkpoint, checkpoint)
    train_with_strategy(files, num_steps * len(hosts), {**params, "build": build}, callbacks=[history])
    return history.losses


small = functools.partial(build_network, "SmallCNN", image_size)
where = tempfile.mkdtemp()
by_horovod = ranks.run(with_horovod, where, 10, num_ranks=num_ranks, **limits)
hosts = ranks.run(free_address, num_ranks=num_ranks)
by_strategy = ranks.run(with_strategy, hosts, f"{where}/model.ckpt-0", 10, num_ranks=num_ranks, **limits)
training_pictures.show_same(np.mean(by_horovod, axis=0), np.mean(by_strategy, axis=0))

# %% [markdown] role="readonly" id="end"
# *Expected:* the two curves coincide; the losses differ only in the last digits, because of rounding. So everything that you have learnt about shards, equal initial weights, averages, the rate and the steps holds for either library.
#
# ## What you can now do
#
# - read and write a model function, and say what each mode needs;
# - find omissions in Estimator code for many ranks, even if they raise no error;
# - continue and evaluate a training run, even if only one rank has the checkpoint;
# - port such code to Keras, with Horovod or with TensorFlow's own strategies.
#
# **Further reading**
#
# - [TensorFlow Estimators: managing simplicity vs. flexibility](https://arxiv.org/abs/1708.02637): the authors of the Estimator explain its design
# - [Migrate from Estimator to Keras](https://www.tensorflow.org/guide/migrate/migrating_estimator): old and new code side by side
# - [Multi-worker training with Keras](https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras): `TF_CONFIG` and the strategy of section 8 on several machines
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

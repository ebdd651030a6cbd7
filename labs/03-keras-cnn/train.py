"""Lab 03: Convolutional networks with Keras on ImageNet files: the notebook's training as a script.

Made by `coursekit build` from solutions/03-keras-cnn/03-keras-cnn.py: edit that file, not this one.
`coursekit script 03` makes a script with the answers from your notebook.

Start the script on any number of ranks, for example on two:

    horovodrun -np 2 python train.py
    mpirun -np 2 python train.py
    srun --ntasks=2 python train.py

The notebook's parameters are command-line options: python train.py --help.
"""

import argparse
import json

import coursekit  # must come before TensorFlow, because it selects Keras 2


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
seed = 1


if __name__ == "__main__":  # command-line options replace the parameters above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    _parser.add_argument("--model", type=str, default=model, help="any network in tf.keras.applications, or SmallCNN (default: %(default)r)")
    _parser.add_argument("--image-size", type=int, default=image_size, help="width and height in pixels (default: %(default)r)")
    _parser.add_argument("--data", type=str, default=data, help="a folder of TFRecord files; '' for synthetic images (default: %(default)r)")
    _parser.add_argument("--damaged", type=str, default=damaged, help="what to do at a damaged record: \"stop\" or \"skip\" (default: %(default)r)")
    _parser.add_argument("--batch-size", type=int, default=batch_size, help="images per rank and step (default: %(default)r)")
    _parser.add_argument("--global-batch-size", type=int, default=global_batch_size, help="images per step, all ranks together; 0: batch_size times the number of ranks (default: %(default)r)")
    _parser.add_argument("--learning-rate", type=float, default=learning_rate, help="for one rank (default: %(default)r)")
    _parser.add_argument("--num-warmup-epochs", type=int, default=num_warmup_epochs, help="(default: %(default)r)")
    _parser.add_argument("--num-epochs", type=int, default=num_epochs, help="(default: %(default)r)")
    _parser.add_argument("--max-num-steps", type=int, default=max_num_steps, help="upper limit for the steps in an epoch; 0: no limit (default: %(default)r)")
    _parser.add_argument("--precision", type=str, default=precision, help="or \"mixed_float16\", \"mixed_bfloat16\" (default: %(default)r)")
    _parser.add_argument("--compression", type=str, default=compression, help="or \"fp16\": gradients are sent with 16 bits (default: %(default)r)")
    _parser.add_argument("--num-groups", type=int, default=num_groups, help="number of messages for a step's gradients; 0: send each when it is ready, best on many GPUs (default: %(default)r)")
    _parser.add_argument("--folder", type=str, default=folder, help="for checkpoints and logs (default: %(default)r)")
    _parser.add_argument("--seed", type=int, default=seed, help="(default: %(default)r)")
    globals().update(vars(_parser.parse_args()))


import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages


import tempfile
from pathlib import Path

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf

from coursekit import imagenet, throughput
from coursekit.imagenet.networks import build_network
from coursekit.ranks.horovod_build import spare_horovod


data_folder = imagenet.find_data(data)
train_files = imagenet.list_files(data_folder, "train")
validation_files = imagenet.list_files(data_folder, "validation")


def pin_gpu():
    """Make only the GPU whose index is the local rank visible; if there are no GPUs, do nothing."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


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


def load_picture(record, training):
    """Return a record's image, cropped at random for training, and its label."""
    # about 7 lines, in this order: parse the record, choose the window, decode it,
    # resize it, mirror it at random (only in training), scale the pixels from 0..255 to -1..1
    raise NotImplementedError("your answer goes here")


def make_dataset(files, batch_size, training, deterministic=True):
    """Return this rank's batches of images and labels; in training, they never end."""
    # about 11 lines, in this order:
    # - the files of this rank
    # - a data set of their names; in training, shuffled with the seed
    # - their records, from four files at a time; in training, shuffled with the seed, then repeated
    # - images and labels in place of records
    # - batches, then prefetch
    raise NotImplementedError("your answer goes here")


def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    """Return the batch size per rank, the learning rate for the global batch, and the number of steps in an epoch."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


def warmed_up(step, rate, num_warmup_steps):
    """Return the learning rate in the given step; steps are counted from 0."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


class WarmUp(tf.keras.callbacks.Callback):
    """Set the learning rate before every step."""

    def __init__(self, rate, num_warmup_steps):
        super().__init__()
        self.rate = rate
        self.num_warmup_steps = num_warmup_steps

    def on_train_batch_begin(self, batch, logs=None):
        optimizer = self.model.optimizer
        optimizer.learning_rate = warmed_up(int(optimizer.iterations), self.rate, self.num_warmup_steps)


def make_optimizer(rate, compression="none"):
    """Return an SGD optimiser with momentum 0.9 that averages the gradients over all ranks."""
    # about 3 lines
    raise NotImplementedError("your answer goes here")


def make_callbacks(folder):
    """Return this rank's callbacks for `fit`."""
    # about 8 lines
    raise NotImplementedError("your answer goes here")


def resume(network, folder):
    """Load the newest checkpoint in the folder on all ranks; return the number of completed epochs."""
    # about 8 lines
    raise NotImplementedError("your answer goes here")


def evaluate(network, dataset):
    """Return the loss and the metrics over the data sets of all ranks together."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


def train(build, train_files, validation_files, folder, settings, more_callbacks=()):
    """Train on all ranks together; return the history, the validation result and the number of steps in an epoch."""
    # about 24 lines
    raise NotImplementedError("your answer goes here")


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


def _plain(value):
    """Turn a value that JSON cannot hold into numbers or text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


if __name__ == "__main__":
    from coursekit.ranks import launched_script

    launched_script.begin_training()  # stops tasks that Horovod did not connect: each would train by itself
    _result = main()
    if hvd.rank() == 0:
        print("result:", json.dumps(_result, default=_plain), flush=True)
        launched_script.note_num_ranks(hvd.size())
    hvd.shutdown()


# Made, not edited: release 03e8f8179238c29ad1b17e011c24838707611ea196cd64a6659948360cf3e54b

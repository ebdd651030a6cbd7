"""Lab 05: Feed the ranks: the notebook's training as a script.

Made by `coursekit build` from solutions/05-feed-the-ranks/05-feed-the-ranks.py: edit that file, not this one.
`coursekit script 05` makes a script with the answers from your notebook.

Start the script on any number of ranks, for example on two:

    horovodrun -np 2 python train.py
    mpirun -np 2 python train.py
    srun --ntasks=2 python train.py

The notebook's parameters are command-line options: python train.py --help.
"""

import argparse
import json

import coursekit  # must come before TensorFlow, because it selects Keras 2


num_images = 1600  # synthetic digits
batch_size = 40  # images per rank and step
learning_rate = 0.02  # for one rank
num_epochs = 3
folder = "digits"  # for files and logs
seed = 1


if __name__ == "__main__":  # command-line options replace the parameters above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    _parser.add_argument("--num-images", type=int, default=num_images, help="synthetic digits (default: %(default)r)")
    _parser.add_argument("--batch-size", type=int, default=batch_size, help="images per rank and step (default: %(default)r)")
    _parser.add_argument("--learning-rate", type=float, default=learning_rate, help="for one rank (default: %(default)r)")
    _parser.add_argument("--num-epochs", type=int, default=num_epochs, help="(default: %(default)r)")
    _parser.add_argument("--folder", type=str, default=folder, help="for files and logs (default: %(default)r)")
    _parser.add_argument("--seed", type=int, default=seed, help="(default: %(default)r)")
    globals().update(vars(_parser.parse_args()))


import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages


import shutil
from pathlib import Path

import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import numpy as np
import tensorflow as tf

from coursekit.imagenet.digits import make_digits
from coursekit.ranks.horovod_build import spare_horovod


def write_records(path, images, labels):
    """Write a TFRecord file with one record for each image and its label."""
    # about 7 lines
    raise NotImplementedError("your answer goes here")


def parse_batch(batch):
    """Return the images and labels of a batch of records."""
    # about 5 lines
    raise NotImplementedError("your answer goes here")


def from_files(files, batch_size):
    """Return batches of images and labels from one pass through this rank's files."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


def equal_steps(dataset, batch_size):
    """Return this rank's samples in full batches, the same number on all ranks, enough for the largest share."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


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


def train(build, dataset, folder, num_epochs, rate):
    """Train on all ranks together, write rank 0's logs to the folder, and return the history, keyed by metric."""
    # about 13 lines
    raise NotImplementedError("your answer goes here")


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


# Made, not edited: release ed2168769aa04f4cc5b41b6f35202385b17ff64dcd1953da84b718af6e9af5df

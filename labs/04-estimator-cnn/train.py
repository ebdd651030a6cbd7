"""Lab 04: Convolutional networks with the Estimator API: the notebook's training as a script.

Made by `coursekit build` from solutions/04-estimator-cnn/04-estimator-cnn.py: edit that file, not this one.
`coursekit script 04` makes a script with the answers from your notebook.

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
image_size = 64  # pixels
data = ""  # a folder of TFRecord files; '' for synthetic images
num_held_out = 2  # training files that are held out for evaluation
batch_size = 16  # images per rank and step
learning_rate = 0.01  # for one rank
num_epochs = 2
folder = "training"  # for checkpoints and summaries
seed = 1


if __name__ == "__main__":  # command-line options replace the parameters above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    _parser.add_argument("--model", type=str, default=model, help="any network in tf.keras.applications, or SmallCNN (default: %(default)r)")
    _parser.add_argument("--image-size", type=int, default=image_size, help="pixels (default: %(default)r)")
    _parser.add_argument("--data", type=str, default=data, help="a folder of TFRecord files; '' for synthetic images (default: %(default)r)")
    _parser.add_argument("--num-held-out", type=int, default=num_held_out, help="training files that are held out for evaluation (default: %(default)r)")
    _parser.add_argument("--batch-size", type=int, default=batch_size, help="images per rank and step (default: %(default)r)")
    _parser.add_argument("--learning-rate", type=float, default=learning_rate, help="for one rank (default: %(default)r)")
    _parser.add_argument("--num-epochs", type=int, default=num_epochs, help="(default: %(default)r)")
    _parser.add_argument("--folder", type=str, default=folder, help="for checkpoints and summaries (default: %(default)r)")
    _parser.add_argument("--seed", type=int, default=seed, help="(default: %(default)r)")
    globals().update(vars(_parser.parse_args()))


import os

_ = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # otherwise TensorFlow prints a page of messages


import functools

import coursekit.estimator  # provides tf.estimator on TensorFlow 2.16 and later; Horovod, imported next, looks for it
import horovod.tensorflow as hvd
import tensorflow as tf

from coursekit import imagenet
from coursekit.imagenet.networks import build_network


data_folder = imagenet.find_data(data)
files = imagenet.list_files(data_folder, "train")


def split_files(files, num_held_out):
    """Return two lists: the files for training, and the files that are held out."""
    # about 2 lines
    raise NotImplementedError("your answer goes here")


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


def input_fn(files, training, worker, num_workers, params):
    """Return this worker's batches of images and labels; for training, they never end."""
    # about 4 lines
    raise NotImplementedError("your answer goes here")


def model_fn(features, labels, mode, params):
    """Return an EstimatorSpec that says what to do with a batch in this mode."""
    # about 16 lines
    raise NotImplementedError("your answer goes here")


def new_session_config():
    """Return a session configuration that allows graph rewriting only on GPUs, where it pays off."""
    session_config = tf.compat.v1.ConfigProto()
    has_gpu = bool(tf.config.list_physical_devices("GPU"))
    session_config.graph_options.rewrite_options.disable_meta_optimizer = not has_gpu
    return session_config


def make_run_config(folder):
    """Return this rank's RunConfig with its GPU and, on rank 0, the folder for checkpoints and summaries."""
    # about 7 lines
    raise NotImplementedError("your answer goes here")


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


def train(files, folder, num_steps, params, hooks=()):
    """Train on all ranks for the remaining steps; return the Estimator. `num_steps` is the number for one process."""
    # about 8 lines
    raise NotImplementedError("your answer goes here")


def evaluate(estimator, files, params):
    """Return the accuracy over all images in the files as {"accuracy": …}, at least on rank 0."""
    # about 7 lines
    raise NotImplementedError("your answer goes here")


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


# Made, not edited: release aec36ac9f4e817d96efea063622acf6f1e4966668da7ddd85a5318d6c36ff631

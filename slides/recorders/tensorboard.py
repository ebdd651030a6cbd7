"""A short training on two ranks, and what TensorBoard shows of it: scalars, graph and histograms as screenshots."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

from coursekit import ranks
from workshop.slides.browser import FLAGS
from workshop.slides.marp import chromium

NUM_IMAGES = 2048
NUM_EPOCHS = 8
NUM_RANKS = 2
# As wide as a slide's figure at most, and so the letters are as large; each pixel twice, for print.
VIEW = {"width": 1080, "height": 900}
SHOWN = {"x": 0, "y": 0, "width": 1080, "height": 460}
SCALE = 2
TABS = {
    "scalars": "scalars&tagFilter=epoch_(acc|loss)&_smoothingWeight=0",
    "histograms": "histograms&tagFilter=kernel",
    "graphs": "graphs",
}
TAG_MENU = (165, 284)  # where the graph's tag is chosen
NOTHING = (950, 800)
ZOOM = -320  # of the wheel: the letters of the graph are small
UP = 45
START_TIMEOUT_S = 60
SETTLE_MS = 5000  # the page draws in the background, and says nowhere that it is done
SHORT_MS = 2500


def digits(num_images, seed):
    """Return drawn digits of 28 x 28 pixels, each shifted, turned and noisy, and their labels."""
    rng = np.random.default_rng(seed)
    font = ImageFont.truetype(Path(mpl.get_data_path()) / "fonts/ttf/DejaVuSans.ttf", 20)
    labels = rng.integers(10, size=num_images)
    images = np.empty((num_images, 28, 28, 1), "float32")
    for image, label in zip(images, labels):
        canvas = Image.new("L", (28, 28))
        ImageDraw.Draw(canvas).text(14 + rng.integers(-3, 4, 2), str(label), fill=255, font=font, anchor="mm")
        turned = np.asarray(canvas.rotate(rng.uniform(-20, 20), Image.Resampling.BILINEAR), "float32")
        image[..., 0] = np.clip(turned / 255 + rng.normal(0, 0.25, (28, 28)), 0, 1)
    return images, labels


def train(training, validation, folder, num_epochs):
    """Train on this rank, with a log on rank 0, and return loss and accuracy by epoch."""
    import horovod.tensorflow.keras as hvd  # noqa: PLC0415  # ranks import it
    import tensorflow as tf  # noqa: PLC0415  # as above

    hvd.init()
    layers = tf.keras.layers
    network = tf.keras.Sequential(
        [
            tf.keras.Input((28, 28, 1)),
            layers.Flatten(),
            layers.Dense(128, activation="relu", name="hidden"),
            layers.Dense(10, activation="softmax", name="output"),
        ]
    )
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.02 * hvd.size(), momentum=0.9))
    network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(), metrics=["accuracy"])
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.TensorBoard(folder, histogram_freq=1))
    mine = tf.data.Dataset.from_tensor_slices(training).shard(hvd.size(), hvd.rank())
    mine = mine.cache().shuffle(len(training[0]), seed=1).batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    held_out = tf.data.Dataset.from_tensor_slices(validation).batch(64)
    history = network.fit(mine, validation_data=held_out, epochs=num_epochs, callbacks=callbacks, verbose=0).history
    return {name: [float(f"{value:.4g}") for value in values] for name, values in history.items()}


@contextmanager
def served(folder):
    """Give the address of a TensorBoard on this machine alone, and end it afterwards."""
    program = Path(sys.executable).with_name("tensorboard")
    command = [program, "--logdir", Path(folder).name, "--host", "127.0.0.1", "--port", "0", "--load_fast=false"]
    log = Path(folder).with_name("tensorboard.log")
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=log.parent, start_new_session=True)
    try:
        end = time.monotonic() + START_TIMEOUT_S
        while not (found := re.search(r"http://127\.0\.0\.1:\d+/", log.read_text())):
            if time.monotonic() > end or process.poll() is not None:
                raise RuntimeError(f"TensorBoard did not start: {log.read_text()}")
            time.sleep(0.2)
        yield found[0]
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=10)


def screenshots(address):
    """Return what the three tabs show, as PNG files."""
    pictures = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport=VIEW, device_scale_factor=SCALE, color_scheme="light")
        page.route("http*://**", lambda route: route.continue_() if address in route.request.url else route.abort())
        for name, tab in TABS.items():
            page.goto("about:blank")
            page.goto(f"{address}?darkMode=false#{tab}")
            page.wait_for_timeout(SETTLE_MS)
            if name == "graphs":
                open_network(page)
            pictures[name] = page.screenshot(clip=SHOWN)
        browser.close()
    return pictures


def open_network(page):
    """Choose the graph of Keras's layers, and open the network in it."""
    page.mouse.click(*TAG_MENU)
    page.locator("paper-item:visible", has_text="keras").first.click()
    page.wait_for_timeout(SHORT_MS)
    found = page.locator("g.node", has_text="sequential").first.bounding_box()
    page.mouse.dblclick(found["x"] + found["width"] / 2, found["y"] + found["height"] / 2)
    page.wait_for_timeout(SHORT_MS)
    page.mouse.move(found["x"], found["y"])
    page.mouse.wheel(0, ZOOM)
    page.wait_for_timeout(SHORT_MS)
    page.mouse.click(*NOTHING)
    page.mouse.move(*NOTHING)
    page.mouse.down()
    page.mouse.move(NOTHING[0], NOTHING[1] - UP, steps=4)
    page.mouse.up()
    page.evaluate("() => window.getSelection().removeAllRanges()")
    page.wait_for_timeout(SHORT_MS)


def record():
    """Train, serve the log, take the pictures."""
    training, validation = digits(NUM_IMAGES, 1), digits(512, 2)
    with tempfile.TemporaryDirectory() as temporary:
        folder = str(Path(temporary) / "logs")
        results = ranks.run(train, training, validation, folder, NUM_EPOCHS, num_ranks=NUM_RANKS, seed=1)
        with served(folder) as address:
            pictures = screenshots(address)
    return {"epochs": NUM_EPOCHS, "ranks": NUM_RANKS, "history": results[0], "pictures": pictures}

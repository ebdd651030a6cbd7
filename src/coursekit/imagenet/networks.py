"""Build the networks of the CNN labs with random weights: a network from `tf.keras.applications`, or a small CNN."""

from __future__ import annotations

from typing import Any

from coursekit.errors import CourseKitError

NUM_CLASSES = 1001  # ImageNet's labels are 1 to 1000; 0 is the background, which its files never use
SMALL = "SmallCNN"
# With Keras's own values of 0.99 and 0.999, the moving averages used in evaluation are useless for thousands of steps.
# Goyal et al. (2017, section 5.1) train ResNet-50 with 0.9.
BATCH_NORM_MOMENTUM = 0.9


def build_network(name: str, image_size: int, num_classes: int = NUM_CLASSES) -> Any:
    """Return an uncompiled network with random weights that maps images to logits of shape (batch, num_classes).

    Args:
        name: a network from `tf.keras.applications`, such as MobileNetV2 or ResNet50, or SmallCNN.
        image_size: height and width of the images, in pixels.
        num_classes: the number of logits.

    Raises:
        CourseKitError: there is no such network, or it does not accept such small images.
    """
    import tensorflow as tf  # only ranks build networks

    if name == SMALL:
        return _small_cnn(image_size, num_classes)
    make = getattr(tf.keras.applications, name, None)
    if not callable(make):
        known = sorted(name for name, value in vars(tf.keras.applications).items() if callable(value))
        raise CourseKitError(
            f"there is no network {name!r}: choose one of {SMALL}, {', '.join(known)}.", "network.unknown"
        )
    shape = (image_size, image_size, 3)
    try:
        network = make(weights=None, input_shape=shape, classes=num_classes, classifier_activation=None)
    except ValueError as error:
        raise CourseKitError(
            f"{name} cannot be built for images of {image_size} pixels: {error}", "network.image-size"
        ) from None
    for layer in network.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = BATCH_NORM_MOMENTUM
    # With mixed precision, the loss needs 32-bit logits.
    return tf.keras.Model(network.input, tf.keras.layers.Activation("linear", dtype="float32")(network.output))


def _small_cnn(image_size: int, num_classes: int) -> Any:
    """Return a small network of three convolutions with batch normalisation, which takes about a second to trace."""
    import tensorflow as tf  # only ranks build networks

    layers = [tf.keras.Input((image_size, image_size, 3))]
    for num_filters in (16, 32, 64):
        layers += [
            tf.keras.layers.Conv2D(num_filters, 3, strides=2, padding="same", use_bias=False),
            tf.keras.layers.BatchNormalization(momentum=BATCH_NORM_MOMENTUM),
            tf.keras.layers.ReLU(),
        ]
    layers += [tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(num_classes, dtype="float32")]
    return tf.keras.Sequential(layers, name=SMALL)

"""Parameters and arithmetic of well-known networks: counted on their graphs, nothing is run."""

NETWORKS = ("MobileNetV2", "DenseNet121", "InceptionV3", "ResNet50", "ResNet101", "VGG16")


def record():
    """Count each network at the picture size that it was made for, with 1000 classes."""
    return {"networks": [count(name) for name in NETWORKS]}


def count(name):
    """Return parameters, megabytes of a gradient, and floating-point operations of one forward pass of one picture."""
    import tensorflow as tf  # noqa: PLC0415  # costs seconds, and others only ask for the recorder's name

    tf.keras.backend.clear_session()
    network = getattr(tf.keras.applications, name)(weights=None)
    picture = tf.TensorSpec((1, *network.input_shape[1:]), tf.float32)
    graph = tf.function(lambda x: network(x, training=False)).get_concrete_function(picture).graph
    quiet = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
    quiet["output"] = "none"
    operations = tf.compat.v1.profiler.profile(graph, options=quiet).total_float_ops
    trainable = sum(int(tf.size(variable)) for variable in network.trainable_variables)
    return {
        "network": name,
        "image_size": network.input_shape[1],
        "million_parameters": round(trainable / 1e6, 2),
        "gradient_mb": round(4 * trainable / 1e6, 1),
        "gflop": float(f"{operations / 1e9:.4g}"),
    }

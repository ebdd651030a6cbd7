"""Shorter tracing: TensorFlow need not translate Horovod's own code."""

from __future__ import annotations

from functools import partial


def spare_horovod() -> None:
    """Tell AutoGraph to take Horovod's functions as they are.

    When a `tf.function` or `model.fit` is traced, AutoGraph rewrites every Python function that it meets into graph
    code, Horovod's among them, which need it nowhere: the tests compare traces with and without. That takes a good part
    of each first step. TensorFlow leaves its own and Keras's functions out in the same way, by rules for modules; the
    functions that Horovod itself compiles have to be compiled without AutoGraph.
    They are not public interfaces, so without them tracing just takes longer.
    """
    try:
        import tensorflow as tf  # TensorFlow is imported by ranks only
        from horovod import tensorflow as horovod  # the same
        from horovod.tensorflow import functions  # the same
        from tensorflow.python.autograph.core import config  # the same

        rules, rule = config.CONVERSION_RULES, config.DoNotConvert("horovod")
    except (ImportError, AttributeError):
        return
    config.CONVERSION_RULES = (rule, *rules)
    for module in (horovod, functions):
        if hasattr(module, "_make_subgraph"):
            module._make_subgraph = partial(tf.function, autograph=False)  # noqa: SLF001  # see above

"""Shorter tracing: TensorFlow need not translate Horovod's own code."""

from __future__ import annotations


def spare_horovod() -> None:
    """Tell AutoGraph to call Horovod's functions as they are.

    When a `tf.function` or `model.fit` is traced, AutoGraph rewrites every Python function that it meets into graph
    code, Horovod's among them, which need it nowhere: the tests compare traces with and without. That takes seconds
    of each first step. TensorFlow leaves its own and Keras's functions out in the same way, by rules for modules.
    They are no public interface, so without them tracing just takes longer.
    """
    try:
        from tensorflow.python.autograph.core import config  # noqa: PLC0415  # TensorFlow is imported by ranks only

        rules, rule = config.CONVERSION_RULES, config.DoNotConvert("horovod")
    except (ImportError, AttributeError):
        return
    config.CONVERSION_RULES = (rule, *rules)

"""`tf.estimator` on TensorFlow 2.16 and later, which come without it; where TensorFlow has one, nothing is changed.

The Estimator was always a package of its own, tensorflow-estimator, and its last release still works but for a few
imports of what TensorFlow has given up. Import this module before Horovod, whose hook for Estimators is only made where
TensorFlow has an Estimator.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import tensorflow as tf

from coursekit.errors import CourseKitError

PACKAGE = "tensorflow_estimator"


def _bring_back() -> None:
    """Set `tf.estimator`; refuse where the package is not installed, or Horovod has been imported before."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.submodule_search_locations is None:
        raise CourseKitError(
            f"TensorFlow {tf.__version__} has no Estimator, and its package is not installed: "
            "pip install tensorflow-estimator==2.15.0",
            "estimator.missing",
        )
    if "horovod.tensorflow" in sys.modules:
        raise CourseKitError(
            "import coursekit.estimator before horovod.tensorflow, which needs tf.estimator", "estimator.imported-late"
        )
    # In place of the package's own __init__: that one imports the interface of TensorFlow 1, with its part for TPUs.
    _stand_in(PACKAGE, __path__=list(spec.submodule_search_locations))
    # A decorator: TensorFlow no longer keeps a list of the Estimator's names.
    _stand_in(f"{PACKAGE}.python.estimator.estimator_export", estimator_export=lambda *_, **__: lambda symbol: symbol)
    _stand_in(
        "tensorflow.python.distribute.estimator_training",
        init_run_config=_init_run_config,
        should_run_distribute_coordinator=lambda _config: False,
    )
    tf.estimator = import_module(f"{PACKAGE}._api.v2.estimator")


def _stand_in(name: str, **attributes: Any) -> None:
    """Let a module of this name be imported that has these attributes alone."""
    module = sys.modules[name] = ModuleType(name)
    module.__dict__.update(attributes)
    parent, _, own_name = name.rpartition(".")
    if parent.startswith("tensorflow."):
        setattr(import_module(parent), own_name, module)


def _init_run_config(config: Any, tf_config: dict[str, Any]) -> None:
    """Finish a `RunConfig` that has a strategy: on one machine it needs nothing."""
    if tf_config.get("cluster"):
        raise CourseKitError(
            f"with TensorFlow {tf.__version__} an Estimator cannot use a strategy on several machines: "
            "leave TF_CONFIG out, or train with Keras and tf.distribute.MultiWorkerMirroredStrategy",
            "estimator.several-machines",
        )
    config._init_distributed_setting_from_environment_var(tf_config)  # noqa: SLF001  # what TensorFlow called here


if not hasattr(tf, "estimator"):
    _bring_back()

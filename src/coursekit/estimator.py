"""Bring back `tf.estimator` in TensorFlow 2.16 and later, which do not have it; earlier versions are left unchanged.

The Estimator was always a separate package, tensorflow-estimator. Its last release still works, except for a few
imports of names that TensorFlow has dropped. Import this module before Horovod, which defines its Estimator hook
only if TensorFlow has an Estimator.
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
    """Set `tf.estimator`; raise an error if the package is not installed or Horovod has already been imported."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.submodule_search_locations is None:
        raise CourseKitError(
            f"TensorFlow {tf.__version__} has no Estimator, and the separate package is not installed: "
            "pip install tensorflow-estimator==2.15.0",
            "estimator.missing",
        )
    if "horovod.tensorflow" in sys.modules:
        raise CourseKitError(
            "import coursekit.estimator before horovod.tensorflow, which needs tf.estimator", "estimator.imported-late"
        )
    # This replaces the package's own __init__, which imports the interface of TensorFlow 1, including its TPU part.
    _stand_in(PACKAGE, __path__=list(spec.submodule_search_locations))
    # A decorator that does nothing: TensorFlow no longer keeps a list of the Estimator's names.
    _stand_in(f"{PACKAGE}.python.estimator.estimator_export", estimator_export=lambda *_, **__: lambda symbol: symbol)
    _stand_in(
        "tensorflow.python.distribute.estimator_training",
        init_run_config=_init_run_config,
        should_run_distribute_coordinator=lambda _config: False,
    )
    tf.estimator = import_module(f"{PACKAGE}._api.v2.estimator")


def _stand_in(name: str, **attributes: Any) -> None:
    """Register a module of this name that has only these attributes, so that it can be imported."""
    module = sys.modules[name] = ModuleType(name)
    module.__dict__.update(attributes)
    parent, _, own_name = name.rpartition(".")
    if parent.startswith("tensorflow."):
        setattr(import_module(parent), own_name, module)


def _init_run_config(config: Any, tf_config: dict[str, Any]) -> None:
    """Complete a `RunConfig` that has a strategy; raise an error if TF_CONFIG names several machines."""
    if tf_config.get("cluster"):
        raise CourseKitError(
            f"with TensorFlow {tf.__version__} an Estimator cannot use a strategy on several machines: "
            "unset TF_CONFIG, or train with Keras and tf.distribute.MultiWorkerMirroredStrategy",
            "estimator.several-machines",
        )
    config._init_distributed_setting_from_environment_var(tf_config)  # noqa: SLF001  # TensorFlow called this here


if not hasattr(tf, "estimator"):
    _bring_back()

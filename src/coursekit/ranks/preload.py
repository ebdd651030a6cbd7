"""What a process imports once, ahead of all that are forked from it: TensorFlow, Horovod, and what the caller adds."""

from __future__ import annotations

import gc
import importlib
import traceback

from coursekit.ranks.tracing import spare_horovod

MODULES = ("numpy", "tensorflow", "horovod.tensorflow", "horovod.tensorflow.keras")


def preload(*more: str, tensorflow: bool = True) -> str:
    """Import what ranks need, unless told not to, and these modules; return '' or, when that failed, the traceback."""
    gc.disable()  # a fifth of TensorFlow's import would be looking for garbage that is not there
    try:
        for module in (*(MODULES if tensorflow else ()), *more):
            importlib.import_module(module)
        if tensorflow:
            spare_horovod()
    except Exception:  # noqa: BLE001  # a broken installation can raise anything; who asked for it explains it
        return traceback.format_exc()
    finally:
        gc.enable()
    gc.freeze()  # else the first collection in a child copies every page that it shares with us
    return ""

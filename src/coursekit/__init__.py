"""Course kit for teaching data-parallel deep learning on supercomputers."""

__version__ = "0.1.0"

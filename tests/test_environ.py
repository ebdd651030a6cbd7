"""What passes from the environment to ranks, kernels and Slurm's commands."""

import os

import pytest

from coursekit.environ import FOR_SBATCH, FOR_SRUN, FOR_SRUN_PREFIXES, scrubbed, slurm_environ


@pytest.mark.parametrize(
    ("kept", "others"),
    [
        pytest.param(
            {"PATH": "/bin", "SLURM_JOB_ID": "7", "OMP_NUM_THREADS": "1"},
            dict.fromkeys(
                ("HOROVOD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_FD", "PMIX_RANK", "HYDRA_X", "MPI_LOCALRANKID"), "0"
            ),
            id="launchers",
        ),
        pytest.param(
            {"TF_CPP_MIN_LOG_LEVEL": "2", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "CUDA_VISIBLE_DEVICES": "1"},
            {"TF_CONFIG": "{}", "TF2_BEHAVIOR": "0", "KERAS_BACKEND": "torch"},
            id="another TensorFlow",
        ),
    ],
)
def test_scrubbing_takes_out_launchers_and_what_makes_another_tensorflow(kept, others):
    """Slurm's own variables, the rest of TensorFlow's and all others stay."""
    assert scrubbed({**kept, **others}) == kept


def test_what_passes_to_slurms_commands(monkeypatch):
    """What says where Slurm is, who pays and which job it is passes; what changes a command passes to none."""
    where, other = {"SLURM_CONF": "c", "SLURM_CLUSTERS": "d"}, {"HOME": "h", "COURSEKIT_NUM_TASKS": "2"}
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_HINT": "nomultithread"}
    pay = {"SBATCH_ACCOUNT": "a", "SBATCH_QOS": "q", "SBATCH_RESERVATION": "r", "SBATCH_PARTITION": "p"}
    dropped = (
        *("SLURM_EXPORT_ENV", "SRUN_EXPORT_ENV", "SLURM_TIME_FORMAT", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"),
        *("SLURM_NTASKS", "SLURM_NNODES", "SLURM_PROCID", "SLURM_TRES_PER_TASK", "SLURM_EXACT", "SLURM_TIMELIMIT"),
        *("SQUEUE_PARTITION", "SQUEUE_NAMES", "SACCT_FORMAT", "SINFO_PARTITION", "SCANCEL_STATE", "SCONTROL_ALL"),
        *("SBATCH_EXPORT", "SBATCH_WAIT", "SBATCH_ARRAY_INX", "SALLOC_ACCOUNT", "HOROVOD_RANK", "COURSEKIT_STEP"),
    )
    monkeypatch.setattr(os, "environ", {**where, **other, **job, **pay, **dict.fromkeys(dropped, "x")})
    assert slurm_environ() == {**where, **other}
    assert slurm_environ(FOR_SBATCH) == {**where, **other, **pay}
    assert slurm_environ(FOR_SRUN, FOR_SRUN_PREFIXES) == {**where, **other, **job}

"""The machines that courses run on: one file each in `slurm/sites/`."""

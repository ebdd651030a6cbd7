"""Lab 08: The same in PyTorch, and less memory per rank: the notebook's training as a script.

Made by `coursekit build` from solutions/08-pytorch/08-pytorch.py: edit that file, not this one.
`coursekit script 08` makes a script with the answers from your notebook.

Start the script on any number of ranks, for example on two:

    torchrun --nproc-per-node=2 train.py
    srun --ntasks=2 python train.py

The notebook's parameters are command-line options: python train.py --help.
"""

import argparse
import json


num_samples = 1000  # for training; a fifth as many for validation
num_features = 32  # numbers per sample
num_units = 64  # per hidden layer
batch_size = 20  # samples per rank and step
learning_rate = 0.02  # for one rank
num_epochs = 5
folder = "training-torch"  # for the checkpoint
seed = 1


if __name__ == "__main__":  # command-line options replace the parameters above
    _parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    _parser.add_argument("--num-samples", type=int, default=num_samples, help="for training; a fifth as many for validation (default: %(default)r)")
    _parser.add_argument("--num-features", type=int, default=num_features, help="numbers per sample (default: %(default)r)")
    _parser.add_argument("--num-units", type=int, default=num_units, help="per hidden layer (default: %(default)r)")
    _parser.add_argument("--batch-size", type=int, default=batch_size, help="samples per rank and step (default: %(default)r)")
    _parser.add_argument("--learning-rate", type=float, default=learning_rate, help="for one rank (default: %(default)r)")
    _parser.add_argument("--num-epochs", type=int, default=num_epochs, help="(default: %(default)r)")
    _parser.add_argument("--folder", type=str, default=folder, help="for the checkpoint (default: %(default)r)")
    _parser.add_argument("--seed", type=int, default=seed, help="(default: %(default)r)")
    globals().update(vars(_parser.parse_args()))


import contextlib
import os
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Subset, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def join():
    """Join the ranks; return the rank, world size and local rank of this process."""
    # about 2 lines
    raise NotImplementedError("your answer goes here")


def pick_device():
    """Return the device for this process's local rank; if it is a GPU, make it the default."""
    # about 5 lines
    raise NotImplementedError("your answer goes here")


def read_epochs(dataset, batch_size, num_epochs, seed):
    """For each epoch, yield the batches of this rank."""
    # about 5 lines
    raise NotImplementedError("your answer goes here")


def train(model, epochs, rate):
    """Train on all ranks together; return the wrapped model and the optimiser."""
    # about 8 lines
    raise NotImplementedError("your answer goes here")


def train_all(model, optimizer, batches):
    """Take a step on each of this rank's batches; other ranks may have more or fewer."""
    # about 5 lines
    raise NotImplementedError("your answer goes here")


def save(wrapped, optimizer, num_epochs, folder):
    """Write checkpoint.pt into the folder, only on rank 0."""
    # about 3 lines
    raise NotImplementedError("your answer goes here")


def resume(wrapped, optimizer, folder):
    """Load the checkpoint on this rank, if there is one; return the number of epochs trained so far."""
    # about 7 lines
    raise NotImplementedError("your answer goes here")


def evaluate(model, dataset, batch_size):
    """Return the mean "loss" and the "accuracy" over all samples; each rank evaluates a share."""
    # about 10 lines
    raise NotImplementedError("your answer goes here")


def make_data(number, seed):
    """Return samples and their labels from eight overlapping classes; a class is a centre with noise around it."""
    random = torch.Generator().manual_seed(seed)
    centers = torch.randn(8, num_features, generator=random)
    random = torch.Generator().manual_seed(seed + number)
    y = torch.randint(8, (number,), generator=random)
    return centers[y] + 2.5 * torch.randn(number, num_features, generator=random), y


def make_model():
    """Return the network, on the CPU."""
    return nn.Sequential(nn.Linear(num_features, num_units), nn.ReLU(), nn.Linear(num_units, 8))


def main(num_epochs=num_epochs):
    """Train the epochs that are not saved yet; return their losses and the validation result."""
    join()
    device = pick_device()
    training, validation = (
        TensorDataset(*(part.to(device) for part in make_data(number, seed)))
        for number in (num_samples, num_samples // 5)
    )
    wrapped, optimizer = train(make_model().to(device), [], learning_rate)
    unfinished = f"{folder}/unfinished"
    Path(unfinished).mkdir(parents=True, exist_ok=True)
    num_trained, losses = resume(wrapped, optimizer, folder), []
    for epoch, batches in enumerate(read_epochs(training, batch_size, num_epochs, seed), 1):
        if epoch <= num_trained:
            continue
        wrapped.train()
        train_all(wrapped, optimizer, batches)
        save(wrapped, optimizer, epoch, unfinished)
        if dist.get_rank() == 0:  # if the job is killed while it writes, the previous checkpoint survives
            os.replace(f"{unfinished}/checkpoint.pt", f"{folder}/checkpoint.pt")
        parts = {"training": training, "validation": validation}
        of_parts = {name: evaluate(wrapped.module, part, batch_size)["loss"] for name, part in parts.items()}
        losses.append({"epoch": epoch, **of_parts})
    result = evaluate(wrapped.module, validation, batch_size)
    if dist.get_rank() == 0:
        print({name: round(value, 3) for name, value in result.items()}, flush=True)
    return {**result, "losses": losses}


def _plain(value):
    """Turn a value that JSON cannot hold into numbers or text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


if __name__ == "__main__":
    from coursekit.ranks import launched_script

    launched_script.place_torch()  # gives tasks of srun the rank variables that torchrun would set
    _result = main()
    if dist.get_rank() == 0:
        print("result:", json.dumps(_result, default=_plain), flush=True)
        launched_script.note_num_ranks(dist.get_world_size())
    dist.destroy_process_group()


# Made, not edited: release 888b708e428c5f49b668b68442118540d5976495cd86dccbe6ae52225edf1c45

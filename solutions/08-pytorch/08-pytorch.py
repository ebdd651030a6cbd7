# %% [markdown] role="readonly" id="intro"
# # Lab 08: The same in PyTorch, and less memory per rank
#
# **95 minutes, 20 points, two or more ranks.**
# You write the steps of labs 02 and 03 once more, with `torch.distributed`: shards, an equal start, averaged gradients, a scaled rate, files from rank 0, and a validation on all ranks.
# Then you share out what every rank of a data-parallel training holds in full: the optimiser's state with ZeRO-1, and weights and gradients as well with FSDP.
#
# After this lab you can
#
# - join ranks by `torch.distributed`, and give each its samples, in a new order in every epoch;
# - train with DistributedDataParallel, and say what is averaged when;
# - write a checkpoint that any number of ranks can read, and validate without a bias;
# - count what a rank holds under DDP, ZeRO-1 and FSDP, and predict it.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` by your answer.
# The cell after each exercise checks your answer on real ranks and names the property that is missing; run it as often as you like.
# Where a later section needs an answer, *Stuck?* above its cell takes it from the solution, without the points. Quizzes and *Stretch* give no points.
# In grading, a cell that takes longer than 60 s is stopped; what it has defined until then counts.
# `AGENTS.md` tells an AI assistant how to help you here: it explains and asks back, and writes no answers.

# %% [markdown] role="readonly" id="parameters-text"
# The numbers of this run. To change them, edit here, or run the notebook with `coursekit execute 08 -p num_epochs 10`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
num_samples = 1000  # for training; a fifth as many for validation
num_features = 32  # numbers in a sample
num_units = 64  # of each hidden layer
batch_size = 20  # samples per rank and step
learning_rate = 0.02  # of one rank
num_epochs = 5
folder = "training-torch"  # for the checkpoint
seed = 1

# %% role="readonly" id="notebook-imports"
from coursekit import ranks

ranks.warm_up("torch")  # starts importing PyTorch for the ranks while this process does the same

# %% role="readonly" id="imports" tags=["script"]
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

# %% role="readonly" id="checks-imports"
from coursekit.checks import check, hand_in_report, lab08_checkpoints, lab08_pieces
from coursekit.checks import lab08_sharding, lab08_training, lab08_validation
from coursekit.pictures import sharding as pictures

# %% [markdown] role="readonly" id="join-text"
# ## 1. Ranks and their samples (18 minutes)
#
# A launcher tells each process its place by environment variables. Horovod's have the prefix `HOROVOD_`; those of PyTorch, which `torchrun` and `ranks.run` set, are
#
# | variable | what it holds |
# | --- | --- |
# | `RANK`, `WORLD_SIZE` | this rank, and how many there are |
# | `LOCAL_RANK`, `LOCAL_WORLD_SIZE` | the same on this node |
# | `MASTER_ADDR`, `MASTER_PORT` | where all ranks find each other |
#
# `dist.init_process_group(backend)` reads them and joins the ranks. The *backend* is the library that carries the messages: `"gloo"` for tensors of CPUs, `"nccl"` for those of GPUs, and `"cpu:gloo,cuda:nccl"` for both.
#
# **Exercise (1 point).** Write `join`: join the ranks, with Gloo where there is no GPU (`torch.cuda.is_available()`) and with both where there is one. Return the rank, the world size and the local rank, as a tuple of three numbers.
# The check pretends that some nodes have GPUs.
#
# <details><summary>Hint</summary>
#
# `dist.get_rank()` and `dist.get_world_size()` return the first two. The local rank stands in an environment variable, as text.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Call `dist.get_rank()` in this notebook's own process, without `ranks.run`. What does the exception say?
#
# </details>


# %% role="answer" id="join" tags=["script"]
def join():
    """Join the ranks; return this process's rank, the world size and its local rank."""
    # about 2 lines
    ### BEGIN SOLUTION
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    return dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
    ### END SOLUTION


# %% role="tests" id="join-tests" points=1
with check("joined ranks", section="1"):
    lab08_pieces.check_join(join, num_ranks=5, ranks_per_node=3)
    ### BEGIN HIDDEN TESTS
    lab08_pieces.check_join(join, num_ranks=2, ranks_per_node=1)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="device-text"
# In lab 02 a rank made one GPU of its node visible. In PyTorch it says for each tensor and model where it is: `x.to(device)`.
# `torch.cuda.set_device(device)` makes that GPU the one of all calls that name none, such as `x.cuda()`.
#
# **Exercise (1 point).** Write `pick_device`: return the `torch.device` of this rank, the GPU of its *local* rank, which is also set, and `torch.device("cpu")` where there is no GPU.
# The check pretends that there are GPUs.
#
# <details><summary>Hint</summary>
#
# `torch.device("cuda", 1)` is the second GPU of the node.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Slurm may show each task one GPU only. Which number has it then in every task, and what must `pick_device` return?
#
# </details>


# %% role="answer" id="pick-device" tags=["script"]
def pick_device():
    """Return the device of this rank's local rank, and set it if it is a GPU."""
    # about 5 lines
    ### BEGIN SOLUTION
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    return device
    ### END SOLUTION


# %% role="tests" id="device-tests" points=1
with check("device of the local rank", section="1"):
    lab08_pieces.check_device(pick_device, num_ranks=3, ranks_per_node=2)
    ### BEGIN HIDDEN TESTS
    lab08_pieces.check_device(pick_device, num_ranks=3, ranks_per_node=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="sampler-text"
# ### Samples of a rank
#
# A `DataLoader` makes batches of a data set. Which samples it takes, in which order, is told by its *sampler*.
# `DistributedSampler(dataset, seed=seed)` puts all samples into a random order, the same on all ranks, and takes every N-th of them. Two things are easily overlooked:
#
# - Its order follows from the seed and the number of the epoch, and it does not count epochs. Without `sampler.set_epoch(epoch)` before each one, **every epoch has the order of the first**. Nothing says so; the network only learns a little worse.
# - All ranks get equally many samples. Where their number does not divide by that of the ranks, some samples come twice. Ten samples on four ranks:

# %% role="readonly" id="sampler-demo" tags=["picture"]
for rank in range(4):
    print(f"rank {rank}:", list(DistributedSampler(range(10), num_replicas=4, rank=rank, shuffle=False)))

# %% [markdown] role="readonly" id="epochs-text"
# In training a sample that comes twice in an epoch does no harm. In a validation it counts twice, so you will do without this sampler there (section 4).
#
# **Exercise (2 points).** Write `read_epochs`, a generator: for each epoch it yields an object whose loop gives this rank's batches, such as a `DataLoader`. All samples are shuffled with the seed, in another order in every epoch, and then shared out: no sample may be left out, and all ranks get equally many, since each waits for the others in every step. The same seed gives the same orders again.
#
# <details><summary>Hint</summary>
#
# Make one sampler and one loader, `DataLoader(dataset, batch_size, sampler=…)`; then a loop over the epochs. A loader that has a sampler must not be told to shuffle.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Ranks that disagree on the seed read other shards. How many of 1000 samples does nobody read in an epoch then, on two ranks?
#
# </details>


# %% role="answer" id="read-epochs" tags=["script"]
def read_epochs(dataset, batch_size, num_epochs, seed):
    """Yield for each epoch the batches of this rank."""
    # about 5 lines
    ### BEGIN SOLUTION
    sampler = DistributedSampler(dataset, seed=seed)
    loader = DataLoader(dataset, batch_size, sampler=sampler)
    for epoch in range(num_epochs):
        sampler.set_epoch(epoch)
        yield loader
    ### END SOLUTION


# %% role="readonly" id="epochs-trial"
epochs_trial = lab08_pieces.try_epochs(read_epochs, num_ranks=3)
print(epochs_trial.error or "The epochs were read on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="shards-tests" points=1
with check("shards", section="1"):
    lab08_pieces.check_shards(epochs_trial)
    ### BEGIN HIDDEN TESTS
    lab08_pieces.check_shards(lab08_pieces.try_epochs(read_epochs, num_ranks=2))
    ### END HIDDEN TESTS

# %% role="tests" id="order-tests" points=1
with check("a new order in every epoch", section="1"):
    lab08_pieces.check_order(epochs_trial)

# %% [markdown] role="readonly" id="train-text"
# ## 2. DistributedDataParallel (28 minutes)
#
# In Horovod the *optimiser* is wrapped, and variables are broadcast by a callback. In PyTorch the *model* is wrapped, `DistributedDataParallel(model)` or DDP, and that does both:
#
# - when it is made, all ranks get the weights of rank 0;
# - during `backward()` it averages. A *hook* of each parameter tells when its gradient is ready. Gradients are collected in *buckets* of up to 25 MB, from the last layer to the first, and a full bucket is sent while the backward pass goes on. When `backward()` returns, every `parameter.grad` holds the mean over the ranks.
#
# So the optimiser is an ordinary one, and does not know of other ranks. As in lab 02, the rate of one rank is to be multiplied by their number.
#
# **Exercise (3 points).** Write `train`. It gets a model, epochs as `read_epochs` yields them, whose batches are pairs of `x` and `y`, and the rate of *one* rank.
# Model and batches are on the rank's device already, so DDP needs no `device_ids`, which it refuses on CPUs. Ask for an epoch when the one before it has been read: `read_epochs` sets the order then.
# Use SGD with momentum 0.9 and `F.cross_entropy(logits, y)`, which is the mean of the batch, and nothing else: no weight decay, schedule or clipping. Return the wrapped model and the optimiser.
#
# <details><summary>Hint</summary>
#
# Wrap the model, make `torch.optim.SGD(wrapped.parameters(), lr=…, momentum=…)`. In each step: `optimizer.zero_grad()`, call the *wrapped* model, loss, `backward()`, `optimizer.step()`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# `print(wrapped)` shows one layer more than the model has. Which, and what are the names in `wrapped.state_dict()` therefore?
#
# </details>


# %% role="answer" id="train" tags=["script"]
def train(model, epochs, rate):
    """Train on all ranks together; return the wrapped model and the optimiser."""
    # about 8 lines
    ### BEGIN SOLUTION
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
    for batches in epochs:
        for x, y in batches:
            optimizer.zero_grad()
            F.cross_entropy(wrapped(x), y).backward()
            optimizer.step()
    return wrapped, optimizer
    ### END SOLUTION


# %% role="readonly" id="train-trial"
train_trial = lab08_training.try_train(train, num_ranks=3)
print(train_trial.error or "The training ran on three ranks, two of them on one node; now the checks.")

# %% role="tests" id="start-tests" points=1
with check("same start", section="2"):
    lab08_training.check_start(train_trial)

# %% role="tests" id="averaged-tests" points=1
with check("averaged gradients", section="2"):
    lab08_training.check_averaged(train_trial)
    ### BEGIN HIDDEN TESTS
    lab08_training.check_averaged(lab08_training.try_train(train, num_ranks=2))
    ### END HIDDEN TESTS

# %% role="tests" id="rate-tests" points=1
with check("learning rate, and each step", section="2"):
    lab08_training.check_rate(train_trial)

# %% [markdown] role="quiz" id="summed-quiz"
# Somebody writes `F.cross_entropy(logits, y, reduction="sum")`, with 20 samples in a batch, on two ranks. What are the gradients that the optimiser sees?
#
# - [ ] The same: DDP averages.
#   DDP takes the mean over the ranks, of whatever gradient each of them has. It knows nothing of the samples in a batch.
# - [ ] 40 times as large, the sum over all samples.
#   DDP divides the sum of both ranks' gradients by two.
# - [x] 20 times as large.
#   Each rank's gradient is 20 times that of the mean, and the mean over the ranks keeps that. The rate would have to be 20 times smaller.
# - [ ] Twice as large, as the world size is two.
#   That would be a sum over the ranks of gradients of a mean.

# %% [markdown] role="readonly" id="accumulate-text"
# ### Gradients of several batches, sent once
#
# Where a large batch does not fit into the memory, gradients of several small ones are added up before the optimiser makes its step: `backward()` *adds* to `parameter.grad`. But DDP would send them in each `backward()`.
# Within `with model.no_sync():` it does not. **Whether a `backward()` sends is decided when the model is called**, so the call must be inside as well.
#
# **Exercise (2 points).** Write `accumulate`: leave in the parameters of the wrapped `model` the gradient of the mean loss over all batches and all ranks. A batch is a pair of `x` and `y`, and all have equally many samples; no gradients are left from before. Gradients may travel once only, with DDP or by a call of your own.
#
# <details><summary>Hint</summary>
#
# The last batch is outside of `no_sync()`: its `backward()` sends all that has been added up. `contextlib.nullcontext()` is a context that does nothing.
# The mean of `len(batches)` losses is what to derive.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# How much time does `no_sync` save on your ranks, for a model of ten layers of 512 units and batches of 4?
#
# </details>


# %% role="answer" id="accumulate"
def accumulate(model, batches):
    """Leave in the parameters the gradient of the mean loss over all batches; exchange gradients once."""
    # about 4 lines
    ### BEGIN SOLUTION
    for number, (x, y) in enumerate(batches, 1):
        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
            loss = F.cross_entropy(model(x), y) / len(batches)
            loss.backward()
    ### END SOLUTION


# %% role="readonly" id="accumulate-trial"
accumulate_trial = lab08_training.try_accumulate(accumulate, num_ranks=3)
print(accumulate_trial.error or "Gradients were added up on three ranks; now the checks.")

# %% role="tests" id="accumulated-tests" points=1
with check("mean over all batches", section="2"):
    lab08_training.check_accumulated(accumulate_trial)

# %% role="tests" id="exchanges-tests" points=1
with check("one exchange", section="2"):
    lab08_training.check_exchanges(accumulate_trial)

# %% [markdown] role="readonly" id="unused-text"
# ### A parameter without a gradient
#
# DDP waits for the hook of *every* parameter. In this model each step uses one of two branches, so the parameters of the other get no gradient, their bucket never fills up, and the next step is refused:


# %% role="readonly" id="unused" tags=["picture"]
class Branching(nn.Module):
    """Two layers, of which each step uses one."""

    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

    def forward(self, x, step):
        return self.branches[step % 2](x)


def train_branching(**settings):
    dist.init_process_group("gloo")
    model = DistributedDataParallel(Branching(), **settings)
    for step in range(3):
        model(torch.ones(2, 4), step).sum().backward()
    return "three steps made"


for settings in ({}, {"find_unused_parameters": True}):
    try:
        print(settings, ranks.run(train_branching, num_ranks=num_ranks, **settings))
    except ranks.RankError as error:
        print(settings, error.error_text.split(". ")[0])

# %% [markdown] role="readonly" id="unequal-text"
# With `find_unused_parameters=True`, DDP goes through the graph of each step to find such parameters, which takes time. It is off by default.
#
# ### Unequal numbers of batches
#
# A rank that has one batch more than the others would wait for them for ever in its last `backward()`: they have finished. Within `with model.join():` a rank that has no more batches stays, and answers the exchanges of the others with zeros, until all have finished.
#
# **Exercise (1 point).** Write `train_all`: one epoch of steps of the wrapped `model` on *all* batches of this rank, though ranks have different numbers of them.
#
# <details><summary>Hint</summary>
#
# The loop of `train`, inside of the context.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In the last steps the gradients of fewer ranks are divided by the number of all. What does `join(divide_by_initial_world_size=False)` change, and which of both weights all samples equally?
#
# </details>


# %% role="answer" id="train-all" tags=["script"]
def train_all(model, optimizer, batches):
    """Make a step on each of this rank's batches; other ranks may have more or fewer."""
    # about 5 lines
    ### BEGIN SOLUTION
    with model.join():
        for x, y in batches:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    ### END SOLUTION


# %% role="tests" id="unequal-tests" points=1
with check("unequal numbers of batches", section="2"):
    lab08_training.check_unequal(train_all, num_batches=(2, 4, 3))
    ### BEGIN HIDDEN TESTS
    lab08_training.check_unequal(train_all, num_batches=(5, 1))
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="table-text"
# ## 3. Side by side (9 minutes)
#
# | step | Horovod, labs 02 and 03 | here |
# | --- | --- | --- |
# | join | `hvd.init()` | `init_process_group` |
# | place | `hvd.rank()`, `hvd.size()`, `hvd.local_rank()` | `get_rank()`, `get_world_size()`, `LOCAL_RANK` |
# | GPU | `set_visible_devices` | `set_device`, `.to(device)` |
# | shard | `dataset.shard` | `DistributedSampler`, `set_epoch` |
# | same start, mean gradients | `DistributedOptimizer`, a callback | DDP |
# | send less often | `backward_passes_per_step` | `no_sync()` |
# | unequal steps | `hvd.join()` | `model.join()` |
# | mean of a tensor | `hvd.allreduce(x)` | `allreduce(x)` |
# | rows of all ranks | `hvd.allgather(x)` | `allgather(x)` |
#
# Functions of the first two lines have `dist.` ahead of them. Those of the last two are still to be written: `dist.all_reduce(x)` does not do what `hvd.allreduce(x)` does: it *sums*, and it changes `x` in place. `dist.all_gather` wants tensors of equal shapes, and `hvd.allgather(x)` takes any number of rows from each rank.
#
# **Exercise (1 point).** Write both as Horovod has them: they return a new tensor, and leave the one that they get as it was.
#
# <details><summary>Hint</summary>
#
# `x.clone()` is a copy. `dist.all_gather_object(parts, x)` fills the list `parts`, which has a place for each rank, with what each rank has, whatever that is. `torch.cat(parts)` puts rows together.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write `allgather` with `dist.all_gather` alone: exchange the numbers of rows first, and fill up.
#
# </details>


# %% role="answer" id="table"
def allreduce(x):
    """Return the mean of x over the ranks, as hvd.allreduce does."""
    # about 3 lines
    ### BEGIN SOLUTION
    x = x.clone()
    dist.all_reduce(x)
    return x / dist.get_world_size()
    ### END SOLUTION


def allgather(x):
    """Return the rows of all ranks in the order of the ranks, as hvd.allgather does."""
    # about 3 lines
    ### BEGIN SOLUTION
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, x)
    return torch.cat(parts)
    ### END SOLUTION


# %% role="tests" id="table-tests" points=1
with check("Horovod, here", section="3"):
    lab08_pieces.check_allreduce(allreduce, num_ranks=3)
    lab08_pieces.check_allgather(allgather, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab08_pieces.check_allreduce(allreduce, num_ranks=2)
    lab08_pieces.check_allreduce(allreduce, num_ranks=1)
    lab08_pieces.check_allgather(allgather, num_ranks=1)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="same-text"
# Are the numbers the same, too? The next cell trains one layer with your `train` on real ranks. It does the same in NumPy, by the formula of the SGD in `tf.keras`, which lab 03 uses: `v = 0.9 v - rate · gradient`, and then `w = w + v`.
# PyTorch has `v = 0.9 v + gradient`, and then `w = w - rate · v`.


# %% role="readonly" id="same" tags=["picture"]
def batches_of(rank, num_steps=20):
    """Return batches of 8 samples with 4 numbers, of 3 classes; each rank has its own."""
    rng = np.random.default_rng([seed, rank])
    return [(rng.normal(size=(8, 4)), rng.integers(0, 3, 8)) for _ in range(num_steps)]


def train_layer(rate):
    """Return the weights of a layer that starts at zero, after training on all ranks."""
    join()
    layer = nn.Linear(4, 3, bias=False, dtype=torch.float64)
    nn.init.zeros_(layer.weight)
    batches = [(torch.tensor(x), torch.tensor(y)) for x, y in batches_of(dist.get_rank())]
    train(layer, [batches], rate)
    return layer.weight.detach().numpy()


def train_by_keras_formula(rate, size):
    """Return the same by NumPy, with the gradients of all ranks' batches and the SGD of tf.keras."""
    weights, velocity = np.zeros((3, 4)), np.zeros((3, 4))
    for together in zip(*(batches_of(rank) for rank in range(size))):
        gradients = []
        for x, y in together:
            exponentials = np.exp(x @ weights.T)
            errors = exponentials / exponentials.sum(axis=1, keepdims=True) - np.eye(3)[y]
            gradients.append(errors.T @ x / len(x))
        velocity = 0.9 * velocity - size * rate * np.mean(gradients, axis=0)
        weights = weights + velocity
    return weights


found, formula = ranks.run(train_layer, 0.01, num_ranks=num_ranks), train_by_keras_formula(0.01, num_ranks)
print("largest weight:", np.abs(formula).max().round(3))
print("largest difference from the formula of Keras:", np.abs(found[0] - formula).max())

# %% [markdown] role="quiz" id="momentum-quiz"
# With a constant rate both formulas give the same weights, to rounding. Then the rate is lowered to a tenth between two steps, as a schedule does. What differs right after?
#
# - [x] Keras' next step still has the swing of the old rate; that of PyTorch is a tenth of it at once.
#   In Keras the rate is inside of the velocity, which is made of earlier rates. In PyTorch the rate multiplies the whole velocity. With warm-up or a schedule the two trainings differ.
# - [ ] PyTorch's next step still has the swing of the old rate; that of Keras is a tenth of it at once.
#   It is the other way round: look at where the rate stands in the two formulas.
# - [ ] Nothing: the formulas are equal.
#   They are equal as long as the rate is constant: then Keras' velocity is -rate times that of PyTorch.
# - [ ] The averages over the ranks.
#   They are averages of gradients, which know no rate.

# %% [markdown] role="readonly" id="save-text"
# ## 4. Checkpoints and validation (19 minutes)
#
# One rank writes, all ranks read. The names of the weights in `wrapped.state_dict()` begin with `module.`, since DDP is a layer around the model. Such a file cannot be read where the model is not wrapped. So take the state of `wrapped.module`.
#
# **Exercise (1 point).** Write `save`: rank 0 writes `checkpoint.pt` into the folder, by `torch.save`: a dictionary with the `"model"`'s `state_dict()`, that of the `"optimizer"`, and `"num_epochs"`.
#
# <details><summary>Hint</summary>
#
# `torch.save(dictionary, Path(folder, "checkpoint.pt"))`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A job is killed while it writes. How do you make sure that there is always one whole checkpoint?
#
# </details>


# %% role="answer" id="save" tags=["script"]
def save(wrapped, optimizer, num_epochs, folder):
    """Write checkpoint.pt into the folder, on rank 0 alone."""
    # about 3 lines
    ### BEGIN SOLUTION
    if dist.get_rank() == 0:
        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
        torch.save(state, Path(folder, "checkpoint.pt"))
    ### END SOLUTION


# %% role="tests" id="save-tests" points=1
with check("checkpoint", section="4"):
    lab08_checkpoints.check_save(save, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab08_checkpoints.check_save(save, num_ranks=2)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="resume-text"
# A file remembers on which device each tensor was. What rank 0 wrote from `cuda:0` is loaded to `cuda:0` again, by *every* rank: the GPU of rank 0 fills up with N copies, and on a machine without GPUs loading fails.
# `torch.load(path, map_location=device)` says where to load to.
#
# DDP makes weights equal when it wraps a model, and not when somebody changes them later. So every rank has to load them.
#
# **Exercise (1 point).** Write `resume`: load `checkpoint.pt` of the folder on every rank into the wrapped model and the optimiser, and return `"num_epochs"`. Without a checkpoint change nothing, and return 0. One that cannot be read is an error: do not catch it.
# The checkpoint of the check was written from a GPU; its ranks have none.
#
# <details><summary>Hint</summary>
#
# `Path(folder, "checkpoint.pt").exists()` asks for the file. `next(wrapped.parameters()).device` is the device of the model. `load_state_dict` of `wrapped.module` and of the optimiser take what `state_dict` gave.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# On a large machine 1000 ranks would read the file at once. Let rank 0 read it, and broadcast: which two functions do you need?
#
# </details>


# %% role="answer" id="resume" tags=["script"]
def resume(wrapped, optimizer, folder):
    """Load the checkpoint on this rank, if there is one; return the number of epochs that are trained."""
    # about 7 lines
    ### BEGIN SOLUTION
    path = Path(folder, "checkpoint.pt")
    if not path.exists():
        return 0
    state = torch.load(path, map_location=pick_device())
    wrapped.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["num_epochs"]
    ### END SOLUTION


# %% role="tests" id="resume-tests" points=1
with check("resumed", section="4"):
    lab08_checkpoints.check_resume(resume, num_ranks=3)
    ### BEGIN HIDDEN TESTS
    lab08_checkpoints.check_resume(resume, num_ranks=2)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="evaluate-text"
# ### Validation
#
# As in lab 03: each rank looks at its own share of the validation samples, each sample counts once, and the shares need not be equally large. So ranks exchange sums and numbers of samples, not means.
#
# **Exercise (2 points).** Write `evaluate`: return a dictionary with the mean `"loss"` and the `"accuracy"` over all samples of all shares, the same on every rank. The model, which is not wrapped, must be in evaluation mode, `model.eval()`.
# Every rank looks at a share, in batches of `batch_size`. A training must be able to go on afterwards: leave the weights as they are, and gradients switched on.
#
# <details><summary>Hint</summary>
#
# `Subset(dataset, range(rank, len(dataset), size))` is a share without padding. `F.cross_entropy(logits, y, reduction="sum")` is a sum over samples, and `logits.argmax(dim=1) == y` says which are right. Collect three numbers in one tensor for one `dist.all_reduce`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Why would the *wrapped* model hang here if it had batch normalisation, and ranks had different numbers of batches?
#
# </details>


# %% role="answer" id="evaluate" tags=["script"]
def evaluate(model, dataset, batch_size):
    """Return the mean "loss" and the "accuracy" over all samples; ranks share them out."""
    # about 10 lines
    ### BEGIN SOLUTION
    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
    sums = torch.zeros(3, dtype=torch.float64)
    model.eval()
    with torch.no_grad():
        for x, y in DataLoader(share, batch_size):
            logits = model(x)
            num_right = (logits.argmax(dim=1) == y).sum()
            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
    dist.all_reduce(sums)
    return {"loss": float(sums[0] / sums[2]), "accuracy": float(sums[1] / sums[2])}
    ### END SOLUTION


# %% role="readonly" id="evaluate-trial"
evaluate_trial = lab08_validation.try_evaluate(evaluate, num_ranks=3)
print(evaluate_trial.error or "The evaluation ran on three ranks; now the checks.")

# %% role="tests" id="once-tests" points=1
with check("each sample once, in evaluation mode", section="4"):
    lab08_validation.check_once_each(evaluate_trial)

# %% role="tests" id="evaluate-tests" points=1
with check("mean over all samples", section="4"):
    lab08_validation.check_evaluate(evaluate_trial)
    ### BEGIN HIDDEN TESTS
    lab08_validation.check_evaluate(lab08_validation.try_evaluate(evaluate, num_ranks=2))
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="main-text"
# ### The whole training
#
# `main` is what every rank does; the script `train.py` next to this notebook calls it too: `torchrun --nproc-per-node=2 train.py`. `coursekit script 08` writes that script with *your* answers.
#
# `main` begins after the last saved epoch, so a second job continues the training of the first.
# Your `train` wraps the model and makes the optimiser; it gets no epochs here.
# Your `train_all` trains each epoch, and `main` saves after each.


# %% role="readonly" id="main" tags=["script"]
def make_data(number, seed):
    """Return samples of eight classes that overlap, each a centre with noise around it."""
    random = torch.Generator().manual_seed(seed)
    centers = torch.randn(8, num_features, generator=random)
    random = torch.Generator().manual_seed(seed + number)
    y = torch.randint(8, (number,), generator=random)
    return centers[y] + 2.5 * torch.randn(number, num_features, generator=random), y


def make_model():
    """Return the network, on the CPU."""
    return nn.Sequential(nn.Linear(num_features, num_units), nn.ReLU(), nn.Linear(num_units, 8))


def main(num_epochs=num_epochs):
    """Train the epochs that are not saved yet; return their losses, and the validation's result."""
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
        if dist.get_rank() == 0:  # a job that is killed while it writes leaves the checkpoint of the epoch before
            os.replace(f"{unfinished}/checkpoint.pt", f"{folder}/checkpoint.pt")
        parts = {"training": training, "validation": validation}
        of_parts = {name: evaluate(wrapped.module, part, batch_size)["loss"] for name, part in parts.items()}
        losses.append({"epoch": epoch, **of_parts})
    result = evaluate(wrapped.module, validation, batch_size)
    if dist.get_rank() == 0:
        print({name: round(value, 3) for name, value in result.items()}, flush=True)
    return {**result, "losses": losses}


# %% role="readonly" id="run" tags=["picture"]
Path(folder, "checkpoint.pt").unlink(missing_ok=True)  # of an earlier run of this cell
results = ranks.run(main, num_ranks=num_ranks, seed=seed)
pictures.show_losses(results[0]["losses"])

# %% [markdown] role="readonly" id="run-expected"
# *Expected:* an accuracy far above one in eight.
# The loss falls on the training samples, but not on the validation samples: 1000 samples are too few for these overlapping classes.
#
# The next cell asks for two more epochs, twice.
# The first call continues after the checkpoint, and the second finds all epochs saved and trains none.
# In a run here, a training of 3 epochs that continued to 5 had the same losses as one of 5 without a break:

# %% role="readonly" id="continued" tags=["picture"]
for last_epoch in (num_epochs + 2, num_epochs + 2):
    continued = ranks.run(main, last_epoch, num_ranks=num_ranks)[0]
    print("epochs trained now:", [losses["epoch"] for losses in continued["losses"]])

# %% [markdown] role="readonly" id="held-text"
# ## 5. Less memory per rank (21 minutes)
#
# Under DDP every rank holds the same weights, the same gradients and the same state of the optimiser. For Adam, that state is two numbers for each weight. With P weights of 4 bytes, a rank holds 16 P bytes, and more for what the samples need.
#
# | | weights | gradients | Adam's state | sent by a rank in a step |
# | --- | --- | --- | --- | --- |
# | DDP | 4 P | 4 P | 8 P | gradients are reduced: 2 · 4 P (N-1)/N |
# | ZeRO-1 | 4 P | 4 P | 8 P / N | the same, and the new weights are collected: 3 · 4 P (N-1)/N |
# | FSDP (ZeRO-3) | 4 P / N | 4 P / N | 8 P / N | weights are collected for forward and backward pass, gradients reduced to shares: 3 · 4 P (N-1)/N |
#
# `ZeroRedundancyOptimizer` is ZeRO-1: each rank updates its share of the weights, and sends it to the others. DDP has given it the gradients of all weights by then; ZeRO-1 of the paper below reduces them to shares and so sends 2 · 4 P (N-1)/N, no more than DDP.
# FSDP also shards the weights: a layer's are collected just before they are used, and given up right after.
#
# **Exercise (1 point).** Write `bytes_held`: what this rank holds of a model and its optimiser, a dictionary of bytes with the entries `"parameters"`, `"gradients"` and `"optimizer"`. FSDP's parameters and gradients are `DTensor`s, of which a rank has the part `x.to_local()`.
#
# <details><summary>Hint</summary>
#
# `x.nbytes` is the size of a tensor. `hasattr(x, "to_local")` tells a `DTensor`, and `torch.is_tensor(x)` any tensor. A parameter's `grad` may be `None`. `optimizer.state` has for each parameter a dictionary; some of its values are tensors.
# ZeRO's optimiser wraps one for this rank's share: `optimizer.optim`, which has the state.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# What is missing in this sum? Train with batches of 10 and of 1000 samples, and watch `ps` or `nvidia-smi`.
#
# </details>


# %% role="answer" id="bytes-held"
def bytes_held(model, optimizer):
    """Return the bytes of parameters, gradients and optimiser state that this rank holds."""
    # about 7 lines
    ### BEGIN SOLUTION
    inner = getattr(optimizer, "optim", optimizer)

    def size(tensors):
        return sum((x.to_local() if hasattr(x, "to_local") else x).nbytes for x in tensors if torch.is_tensor(x))

    return {
        "parameters": size(model.parameters()),
        "gradients": size(parameter.grad for parameter in model.parameters()),
        "optimizer": size(x for state in inner.state.values() for x in state.values()),
    }
    ### END SOLUTION


# %% role="tests" id="bytes-tests" points=1
with check("bytes of a rank", section="5"):
    lab08_sharding.check_bytes_held(bytes_held, num_ranks=2)
    ### BEGIN HIDDEN TESTS
    lab08_sharding.check_bytes_held(bytes_held, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="zero-text"
# **Exercise (1 point).** Write `make_zero`: the optimiser of ZeRO-1 for a wrapped model, with Adam (`torch.optim.Adam`) and this rate. All other settings are the defaults.
#
# <details><summary>Hint</summary>
#
# `ZeroRedundancyOptimizer` makes the optimiser of a rank's share itself: it gets the class, and what that is to be called with by name.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# It shares out whole tensors. How unequal can the shares of the ranks be, for a network with one large layer?
#
# </details>


# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    """Return Adam for a wrapped model, whose state the ranks share out."""
    # about 1 line
    ### BEGIN SOLUTION
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, lr=rate)
    ### END SOLUTION


# %% role="tests" id="zero-tests" points=1
with check("ZeRO-1", section="5"):
    lab08_sharding.check_zero(make_zero, num_ranks=3)

# %% [markdown] role="readonly" id="shard-text"
# **Exercise (1 point).** Write `shard`: make FSDP's shards of a model that is a sequence of layers, and return the model.
# Each layer is to be a unit of its own: if only the whole model is one, all its weights are collected at once, and during a step every rank needs memory for all of them.
# The model is made a unit after its layers: only inside of another unit does a layer give up its weights when its forward pass has ended. All settings of `fully_shard` stay at their defaults.
#
# <details><summary>Hint</summary>
#
# `fully_shard` changes what it gets in place. A loop over an `nn.Sequential` gives its layers.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# `fully_shard(layer, reshard_after_forward=False)` keeps the weights until the backward pass. What does it save, and what does it cost?
#
# </details>


# %% role="answer" id="shard"
def shard(model):
    """Let ranks share out the weights of each layer of a sequence of layers; return the model."""
    # about 4 lines
    ### BEGIN SOLUTION
    for layer in model:
        fully_shard(layer)
    fully_shard(model)
    return model
    ### END SOLUTION


# %% role="tests" id="fsdp-tests" points=1
with check("FSDP", section="5"):
    lab08_sharding.check_shard(shard, num_ranks=2)
    ### BEGIN HIDDEN TESTS
    lab08_sharding.check_shard(shard, num_ranks=3)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="predict-text"
# **Exercise (1 point).** Write `predict_bytes`: what the table says, for a `kind` that is `"ddp"`, `"zero"` or `"fsdp"`. Return a dictionary of bytes with `"held"`, all that a rank holds of weights, gradients and Adam's state together, and `"sent"`, what it sends in a step.
#
# <details><summary>Hint</summary>
#
# How many of the 16 bytes of a weight are shared out by N, in each of the three ways? And how many times do 4 bytes of each weight travel?
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In mixed precision weights and gradients take 2 bytes each, and Adam keeps 12. From which N on does a model with 7 billion weights fit into 80 GB, in the three ways?
#
# </details>


# %% role="answer" id="predict-bytes"
def predict_bytes(kind, num_parameters, num_ranks):
    """Return the bytes that a rank holds, and those that it sends in a step."""
    # about 4 lines
    ### BEGIN SOLUTION
    shared = {"ddp": 0, "zero": 8, "fsdp": 16}[kind]
    times = {"ddp": 2, "zero": 3, "fsdp": 3}[kind]
    held = (16 - shared + shared / num_ranks) * num_parameters
    return {"held": held, "sent": times * 4 * num_parameters * (num_ranks - 1) / num_ranks}
    ### END SOLUTION


# %% role="tests" id="predict-tests" points=1
with check("predicted bytes", section="5"):
    lab08_sharding.check_predict_bytes(predict_bytes, num_cases=6)
    ### BEGIN HIDDEN TESTS
    lab08_sharding.check_predict_bytes(predict_bytes, num_cases=40)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="budget-text"
# ## 6. At home: a memory budget
#
# This section is not in the 95 minutes.
#
# **Exercise (1 point).** Write `fewest_gpus`: the smallest number among 1, 2, 4, …, 64 GPUs with which a rank's bytes, and `other_bytes` for what its samples need, are no more than `memory_bytes`; `None` if there is none.
#
# <details><summary>Hint</summary>
#
# A loop over the numbers of GPUs, with your `predict_bytes`. What fits exactly, fits.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Under DDP the answer is 1 or `None`. Why?
#
# </details>


# %% role="answer" id="fewest-gpus"
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    """Return the smallest number of GPUs, from 1 to 64, with which a rank's bytes fit; None if there is none."""
    # about 4 lines
    ### BEGIN SOLUTION
    for num_ranks in (1, 2, 4, 8, 16, 32, 64):
        if predict_bytes(kind, num_parameters, num_ranks)["held"] + other_bytes <= memory_bytes:
            return num_ranks
    return None
    ### END SOLUTION


# %% role="tests" id="budget-tests" points=1
with check("memory budget", section="6"):
    lab08_sharding.check_fewest_gpus(fewest_gpus, predict_bytes, num_cases=40)
    ### BEGIN HIDDEN TESTS
    lab08_sharding.check_fewest_gpus(fewest_gpus, predict_bytes, num_cases=60)
    ### END HIDDEN TESTS

# %% [markdown] role="readonly" id="measure-text"
# Now measure it. Your ranks make two steps of Adam in each of the three ways, and count; the lines of the picture are your prediction.


# %% role="readonly" id="measure" tags=["picture"]
def measure(kind):
    """Return what this rank holds after two steps."""
    join()
    model = nn.Sequential(*(nn.Linear(num_units, num_units) for _ in range(8)))
    if kind == "fsdp":
        model = shard(model)
        optimizer = torch.optim.Adam(model.parameters())
    else:
        model = DistributedDataParallel(model)
        optimizer = torch.optim.Adam(model.parameters()) if kind == "ddp" else make_zero(model, 0.001)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(4, num_units)).square().mean().backward()
        optimizer.step()
    return bytes_held(model, optimizer)


kinds = ("ddp", "zero", "fsdp")
measured = {kind: ranks.run(measure, kind, num_ranks=num_ranks) for kind in kinds}
num_parameters = 8 * num_units * (num_units + 1)
predicted = {kind: predict_bytes(kind, num_parameters, num_ranks)["held"] for kind in kinds}

# %% role="readonly" id="memory-picture" tags=["picture"]
pictures.show_memory(measured, predicted)

# %% role="readonly" id="budget-picture" tags=["picture"]
# A GPU with 80 GB, 20 GB of them for what the samples need, and links of 200 Gbit/s.
for billions in (1, 7, 30):
    print(f"{billions} billion weights")
    for kind in kinds:
        num_gpus = fewest_gpus(kind, billions * 1e9, 80e9, 20e9)
        if num_gpus is None:
            print(f"  {kind:5} does not fit on up to 64 GPUs")
            continue
        sent = predict_bytes(kind, billions * 1e9, num_gpus)["sent"]
        print(
            f"  {kind:5} fits on {num_gpus} GPU{'s' * (num_gpus > 1)}; a step sends {sent / 1e9:.1f} GB, {sent * 8 / 200e9:.2f} s on such a link"
        )

# %% [markdown] role="readonly" id="budget-expected"
# *Expected:* the bars reach to the lines. ZeRO's ranks may differ, since it shares out whole tensors.
# In the list above, 30 billion weights fit with FSDP alone: under ZeRO-1 a rank holds 8 P bytes at least, however many GPUs there are.

# %% [markdown] role="readonly" id="speed-text"
# ## 7. At home: how fast it is, and what large models need
#
# This section is not in the 95 minutes, and it has no exercises.
# Run its cells, read what they print, and change a number.
#
# ### Samples per second
#
# The next cell times steps of the network that you trained, on one rank and on several.
# On several ranks it times each step twice: with the exchange of gradients, and without it, inside `no_sync()`.
# The difference is the share of the allreduce.
# It takes the fastest of 100 steps, which other programs on the machine disturb least.
# Gradients have the same number of bytes for a batch of 20 samples and for one of 2000.

# %% role="readonly" id="home-imports" tags=["picture"]
import time

import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

from coursekit.throughput import warn_if_busy


# %% role="readonly" id="speed" tags=["picture"]
def time_steps(batch_sizes, num_steps=100):
    """Return for each size the seconds of the fastest step, with the exchange of gradients and without."""
    join()
    wrapped, optimizer = train(make_model(), [], learning_rate)

    def time_step(x, y):
        begin = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(wrapped(x), y).backward()
        optimizer.step()
        return time.perf_counter() - begin

    fastest = []
    for size in batch_sizes:
        batch = make_data(size, seed)
        exchanging = min(time_step(*batch) for _ in range(num_steps))
        with wrapped.no_sync():
            fastest.append((exchanging, min(time_step(*batch) for _ in range(num_steps))))
    return fastest


warn_if_busy()
batch_sizes = (20, 200, 2000)
alone = ranks.run(time_steps, batch_sizes, num_ranks=1, bind_cores=True)[0]
together = ranks.run(time_steps, batch_sizes, num_ranks=num_ranks, bind_cores=True)[0]
pictures.show_speed(batch_sizes, [without for _, without in alone], together, num_ranks)

# %% [markdown] role="readonly" id="speed-expected"
# *Expected:* the larger the batch, the more samples per second, and the smaller the share of the allreduce.
# In a run on two cores with nothing else on them, the share was 64, 57 and 26 %.
# With 20 samples in a batch, two ranks together trained on fewer samples per second than one rank alone.
# With GPUs, put model and samples on the GPU, and call `torch.cuda.synchronize()` before each `time.perf_counter()`.
#
# ### Where a job's ranks learn their place
#
# `torchrun` sets the variables of section 1, and `srun` does not.
# So `train.py` calls `coursekit.ranks.launched_script.place_torch()`, which sets them:
#
# | variable | in a task of `srun` | without a launcher |
# | --- | --- | --- |
# | `RANK` | `SLURM_PROCID` | 0 |
# | `WORLD_SIZE` | `SLURM_STEP_NUM_TASKS` | 1 |
# | `LOCAL_RANK` | `SLURM_LOCALID` | 0 |
# | `MASTER_ADDR` | `SLURM_LAUNCH_NODE_IPADDR` | 127.0.0.1 |
# | `MASTER_PORT` | 20000 + the last four digits of `SLURM_JOB_ID` | 20000 |
#
# It changes nothing if `RANK` is set already, as by `torchrun`.
# It keeps a `MASTER_PORT` that you have set, and in a task of `srun` also your `MASTER_ADDR`.
#
# ### bfloat16
#
# A number in bfloat16 has 2 bytes: the range of a 32-bit number, with 8 significant bits instead of 24.
# Inside `torch.autocast` the layers compute in bfloat16, and weights and gradients stay in 32 bits.
# FSDP's `MixedPrecisionPolicy` collects the weights in bfloat16, and each rank keeps its share of them in 32 bits.


# %% role="readonly" id="bfloat16" tags=["picture"]
def train_with(kind):
    """Make 20 steps; return the types of numbers, and the last loss."""
    join()
    torch.manual_seed(seed)
    model, used = make_model(), set()
    model[0].register_forward_hook(lambda layer, *_: used.add(layer.weight.dtype))
    if kind == "FSDP, policy":
        fully_shard(model, mp_policy=MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32))
    else:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = make_data(200, seed)
    for _ in range(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=kind == "DDP, autocast"):
            logits = model(x)
        loss = F.cross_entropy(logits.float(), y)  # the loss is computed in 32 bits
        loss.backward()
        optimizer.step()
    weight = next(model.parameters())
    return {"used": used, "kept": weight.dtype, "gradients": weight.grad.dtype, "logits": logits.dtype}, loss.item()


for kind in ("DDP", "DDP, autocast", "FSDP, policy"):
    types, loss = ranks.run(train_with, kind, num_ranks=num_ranks)[0]
    print(f"{kind}: loss {loss:.4f}", types)

# %% [markdown] role="readonly" id="sharded-text"
# *Expected:* logits in bfloat16 in the last two lines, and losses that differ by less than 0.001.
# Only FSDP has weights in bfloat16 while a layer computes (`used`); all three keep 32 bits.
# With GPUs, write `"cuda"` in the line with `autocast`, and put model and samples on the GPU.
#
# ### A sharded checkpoint
#
# Your `save` writes the whole state on rank 0, which must hold it.
# With `torch.distributed.checkpoint` each rank writes its own share, and any number of ranks can read them.


# %% role="readonly" id="sharded" tags=["picture"]
def make_sharded():
    """Join the ranks; return a sharded model and its optimiser."""
    join()
    model = fully_shard(make_model())
    return model, torch.optim.Adam(model.parameters())


def save_shares(where):
    """Make a step, and write what this rank holds; return the sum of all weights."""
    model, optimizer = make_sharded()
    model(torch.ones(4, num_features)).square().mean().backward()
    optimizer.step()
    dcp.save(dict(zip(("model", "optimizer"), get_state_dict(model, optimizer))), checkpoint_id=where)
    return sum(weight.full_tensor().sum().item() for weight in model.parameters())


def load_shares(where):
    """Read this rank's share; return the sum of all weights, and how many rows of the first layer are here."""
    model, optimizer = make_sharded()
    state = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer)))
    dcp.load(state, checkpoint_id=where)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    weights = list(model.parameters())
    return sum(weight.full_tensor().sum().item() for weight in weights), len(weights[0].to_local())


where = f"{folder}/sharded"
print("saved by 2 ranks, sum of the weights:", ranks.run(save_shares, where)[0])
print("files:", sorted(path.name for path in Path(where).iterdir()))
for size in (1, 3):
    print(f"read by {size}, sum and rows:", ranks.run(load_shares, where, num_ranks=size))

# %% [markdown] role="readonly" id="recomputed-text"
# *Expected:* the same sum from each rank.
# The first layer has 64 rows: one rank reads all of them, and three ranks read 22, 22 and 20.
# With GPUs, put the model on the GPU where it is made.
#
# ### Activation checkpointing
#
# Each layer keeps its input for the backward pass.
# `torch.utils.checkpoint` keeps only the input of a block, and computes the block again in the backward pass.
# The next cell counts the bytes that autograd keeps, without the weights.


# %% role="readonly" id="recomputed" tags=["picture"]
class Blocks(nn.Module):
    """Eight blocks of two linear layers; a block keeps the inputs of its layers, or computes them again."""

    def __init__(self, recomputes):
        super().__init__()
        self.recomputes = recomputes
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)) for _ in range(8)
        )

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.recomputes else block(x)
        return x


def count_kept(recomputes):
    """Return the bytes that are kept for the backward pass, the fewest seconds of both passes, and a sum of gradients."""
    join()
    torch.manual_seed(seed)
    model, kept = DistributedDataParallel(Blocks(recomputes)), {}
    weights = {weight.data_ptr() for weight in model.parameters()}

    def note(x):
        kept[x.data_ptr()] = x.nbytes * (x.data_ptr() not in weights)
        return x

    with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
        model(torch.ones(64, 256)).square().mean().backward()
    gradients, times = sum(weight.grad.abs().sum().item() for weight in model.parameters()), []
    for _ in range(20):
        begin = time.perf_counter()
        model(torch.ones(64, 256)).square().mean().backward()
        times.append(time.perf_counter() - begin)
    return sum(kept.values()), min(times), gradients


for recomputes in (False, True):
    num_bytes, seconds, gradients = ranks.run(count_kept, recomputes, num_ranks=num_ranks)[0]
    print(
        f"recomputes {recomputes}: {num_bytes / 1e6:.2f} MB kept, {1000 * seconds:.0f} ms, sum of gradients {gradients:.6f}"
    )

# %% [markdown] role="readonly" id="nested-text"
# *Expected:* about a fifth of the bytes, and the same sum of gradients.
# The second time includes computing each block again, which other programs on the machine can hide.
# With GPUs, put model and samples on the GPU; `torch.cuda.max_memory_allocated()` then tells the memory.
#
# ### FSDP block by block
#
# In large models the units of FSDP are blocks of several layers.
# The next cell counts, while each block computes, how many of the model's tensors are whole on this rank.
# It does so for `fully_shard` on the model alone, and for your `shard`, which calls `fully_shard` on each block, then on the model.


# %% role="readonly" id="nested" tags=["picture"]
def count_whole(is_nested):
    """Return, for each block while it computes, how many of the 16 tensors of weights are whole on this rank."""
    join()
    blocks = [nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)) for _ in range(4)]
    model, whole = nn.Sequential(*blocks), []
    model = shard(model) if is_nested else fully_shard(model)

    def note(*_):
        whole.append(sum(not hasattr(weight, "to_local") for weight in model.parameters()))

    for block in blocks:
        block[1].register_forward_hook(note)
    model(torch.ones(4, 64))
    return whole


for is_nested in (False, True):
    print("blocks, then the model:" if is_nested else "the model alone:", ranks.run(count_whole, is_nested)[0])

# %% [markdown] role="readonly" id="trace-text"
# *Expected:* all 16 tensors with the model alone, and 4 with the blocks: those of the block that computes.
# With GPUs, put the blocks on the GPU where they are made.
#
# ### A trace of a step
#
# `torch.profiler` notes when each operation begins and ends, here in one forward and backward pass of eight layers.
# DDP gets buckets of 2 MB, so that there are several.


# %% role="readonly" id="trace" tags=["picture"]
def trace_step():
    """Print on rank 0 where a step's time goes; return (name, begin, end) in ms of products and exchanges."""
    join()
    model = nn.Sequential(*(nn.Linear(512, 512) for _ in range(8)))
    model, x = DistributedDataParallel(model, bucket_cap_mb=2), torch.randn(64, 512)
    for _ in range(3):
        model(x).square().mean().backward()
    with profile(activities=[ProfilerActivity.CPU]) as trace:
        model(x).square().mean().backward()
    if dist.get_rank() == 0:
        shown = ("DistributedDataParallel.forward", "AddmmBackward0", "gloo:all_reduce")
        for one in [one for one in trace.key_averages() if one.key in shown]:
            print(f"{one.key:32} {one.count} times, {one.cpu_time_total / 1000:.1f} ms in all")
        trace.export_chrome_trace(f"{folder}/trace.json")
    names = {"AddmmBackward0": "backward", "gloo:all_reduce": "allreduce"}
    spans = [(one.name, one.time_range) for one in trace.events() if one.name in names]
    return [(names[name], span.start / 1000, span.end / 1000) for name, span in spans]


quiet = {"KINETO_LOG_LEVEL": "6"}  # of the profiler's library
pictures.show_trace(ranks.run(trace_step, num_ranks=num_ranks, environ=quiet)[0])

# %% [markdown] role="readonly" id="end"
# *Expected:* `gloo:all_reduce` four times, once for each bucket; the first begins before the backward pass has ended.
# `trace.json` in the folder has every operation: load it into `chrome://tracing` or Perfetto.
# With GPUs, put model and samples on the GPU, and add `ProfilerActivity.CUDA` to the `activities`.
#
# ## What you can now do
#
# - turn a training in PyTorch for one process into one for N ranks, and name what is missing in one that lacks a step;
# - tell which of Horovod's calls is which of PyTorch's, and where they differ;
# - read and write checkpoints with any number of ranks;
# - say how many GPUs a model needs, and what sharding costs on the wire.
#
# **Further reading**
#
# - [PyTorch Distributed: experiences on accelerating data parallel training](https://arxiv.org/abs/2006.15704): hooks, buckets and overlap, by their authors
# - [ZeRO: memory optimizations toward training trillion parameter models](https://arxiv.org/abs/1910.02054): the three stages and their bytes
# - [Getting started with fully sharded data parallel](https://pytorch.org/tutorials/intermediate/FSDP_tutorial.html): `fully_shard` in PyTorch's own words
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have its mark.

# %% role="readonly" id="report"
hand_in_report()

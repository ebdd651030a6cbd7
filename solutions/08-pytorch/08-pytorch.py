# %% [markdown] role="readonly" id="intro"
# # Lab 08: The same in PyTorch, and less memory per rank
#
# **95 minutes, 20 points, two or more ranks.**
# You write the steps of labs 02 and 03 again, this time with `torch.distributed`: shards, equal initial weights, averaged gradients, a scaled learning rate, files from rank 0, and validation on all ranks.
# Then you shard the state that plain data parallelism keeps in full on every rank. With ZeRO-1, you shard the optimiser state; with FSDP, the weights and gradients as well.
#
# After this lab you can
#
# - join the ranks with `torch.distributed`, and give each rank its samples, in a new order every epoch;
# - train with DistributedDataParallel, and explain what it averages and when;
# - write a checkpoint that any number of ranks can read, and validate without bias;
# - count the bytes that a rank holds under DDP, ZeRO-1 and FSDP, and predict them.
#
# **How to work.** Run the cells from the top with Shift+Enter, and replace each `raise NotImplementedError` with your answer.
# The cell after each exercise checks your answer on real ranks and reports what is missing; run it as often as you like.
# If you are stuck on an answer that a later section needs, unfold *Stuck?* above its cell. You can then continue with the answer from the solution, but get no points for it. Quizzes and *Stretch* tasks give no points either.
# During grading, a cell that runs for more than 60 s is stopped, but anything that it has defined by then still counts.
# `AGENTS.md` tells an AI assistant how to help you here: by explaining and asking questions, not by writing answers.

# %% [markdown] role="readonly" id="parameters-text"
# These are the settings of this run. To change them, edit the next cell, or run the notebook with `coursekit execute 08 -p num_epochs 10`.

# %% tags=["parameters"] id="parameters"
num_ranks = 2
num_samples = 1000  # for training; a fifth as many for validation
num_features = 32  # numbers per sample
num_units = 64  # per hidden layer
batch_size = 20  # samples per rank and step
learning_rate = 0.02  # for one rank
num_epochs = 5
folder = "training-torch"  # for the checkpoint
seed = 1

# %% role="readonly" id="notebook-imports"
from coursekit import ranks

ranks.warm_up("torch")  # starts importing PyTorch for the ranks while this process imports it, too

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
# A launcher sets environment variables to tell each process which rank it is. Horovod's variables start with `HOROVOD_`. For PyTorch, `torchrun` and `ranks.run` set these:
#
# | variable | contents |
# | --- | --- |
# | `RANK`, `WORLD_SIZE` | this process's rank, and the number of ranks |
# | `LOCAL_RANK`, `LOCAL_WORLD_SIZE` | the same, counted within this node |
# | `MASTER_ADDR`, `MASTER_PORT` | the address and port at which all ranks meet |
#
# `dist.init_process_group(backend)` reads these variables and joins the ranks. The *backend* is the library that carries the messages: `"gloo"` for tensors on CPUs, `"nccl"` for tensors on GPUs, and `"cpu:gloo,cuda:nccl"` for both.
#
# **Exercise (1 point).** Write `join`. It joins the ranks, with Gloo if there is no GPU (`torch.cuda.is_available()`) and with both backends if there is one. It returns the rank, the world size and the local rank as a tuple of three numbers.
# The check pretends that some nodes have GPUs.
#
# <details><summary>Hint</summary>
#
# `dist.get_rank()` and `dist.get_world_size()` return the first two. The local rank is in an environment variable, as text.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Call `dist.get_rank()` in a cell of this notebook, without `ranks.run`. What does the exception say?
#
# </details>


# %% role="answer" id="join" tags=["script"]
def join():
    """Join the ranks; return the rank, world size and local rank of this process."""
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
# In lab 02, TensorFlow on each rank saw only one GPU of its node. In PyTorch, you place each tensor and model on a device yourself: `x.to(device)`.
# `torch.cuda.set_device(device)` makes that GPU the default for calls that name no device, such as `x.cuda()`.
#
# **Exercise (1 point).** Write `pick_device`. It returns the `torch.device` of this rank: the GPU whose index is its *local* rank, or `torch.device("cpu")` if there is no GPU. It also makes that GPU the default.
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
# Slurm may let each task see only one GPU. Which index does this GPU have in every task, and what must `pick_device` return in that case?
#
# </details>


# %% role="answer" id="pick-device" tags=["script"]
def pick_device():
    """Return the device for this process's local rank; if it is a GPU, make it the default."""
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
# A `DataLoader` makes batches from a data set. Its *sampler* decides which samples it takes, and in which order.
# `DistributedSampler(dataset, seed=seed)` puts all samples into a random order, the same on all ranks, and takes every N-th sample. It is easy to overlook two things:
#
# - The order depends on the seed and the epoch number, but the sampler does not count epochs. Without `sampler.set_epoch(epoch)` before each epoch, **every epoch has the same order as the first**. No message warns you; the network just learns a little less well.
# - All ranks get the same number of samples. If the total is not divisible by the number of ranks, some samples appear twice. The next cell shows this for ten samples on four ranks:

# %% role="readonly" id="sampler-demo" tags=["picture"]
for rank in range(4):
    print(f"rank {rank}:", list(DistributedSampler(range(10), num_replicas=4, rank=rank, shuffle=False)))

# %% [markdown] role="readonly" id="epochs-text"
# In training, it does no harm if a sample appears twice in an epoch. In validation, the sample would count twice, so you will not use this sampler there (section 4).
#
# **Exercise (2 points).** Write the generator `read_epochs`. For each epoch it yields an iterable over this rank's batches, such as a `DataLoader`. In every epoch, all samples are shuffled into a different order, which depends on the seed, and are then divided among the ranks. No sample may be left out. All ranks get the same number of samples, because each rank waits for the others in every step. The same seed must always give the same orders.
#
# <details><summary>Hint</summary>
#
# Make one sampler and one loader, `DataLoader(dataset, batch_size, sampler=…)`; then loop over the epochs. A loader that has a sampler must not shuffle as well.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Suppose that two ranks use different seeds. About how many of 1000 samples does neither rank read in an epoch?
#
# </details>


# %% role="answer" id="read-epochs" tags=["script"]
def read_epochs(dataset, batch_size, num_epochs, seed):
    """For each epoch, yield the batches of this rank."""
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
# In Horovod, you wrap the *optimiser*, and a callback broadcasts the variables. In PyTorch, you wrap the *model* instead. `DistributedDataParallel(model)`, or DDP for short, does both jobs:
#
# - when it is created, it sends the weights of rank 0 to all ranks;
# - during `backward()` it averages the gradients. A *hook* on each parameter reports when its gradient is ready. Gradients are collected in *buckets* of up to 25 MB, from the last layer to the first, and each full bucket is sent while the backward pass continues. When `backward()` returns, every `parameter.grad` holds the mean over the ranks.
#
# You can therefore use an ordinary optimiser, which knows nothing about other ranks. As in lab 02, the learning rate for one rank must be multiplied by the number of ranks.
#
# **Exercise (3 points).** Write `train`. It gets a model, epochs as `read_epochs` yields them, and the learning rate for *one* rank. Each batch is a pair of `x` and `y`.
# The model and the batches are already on the rank's device, so DDP needs no `device_ids`; for a model on a CPU, it rejects them. Ask for an epoch only after you have read all batches of the previous epoch, because `read_epochs` sets the order of an epoch when you ask for it.
# Use SGD with momentum 0.9 and the loss `F.cross_entropy(logits, y)`, which is the mean over the batch. Use nothing else: no weight decay, learning rate schedule or clipping. Return the wrapped model and the optimiser.
#
# <details><summary>Hint</summary>
#
# Wrap the model and create `torch.optim.SGD(wrapped.parameters(), lr=…, momentum=…)`. In each step: `optimizer.zero_grad()`, call the *wrapped* model, compute the loss, `backward()`, `optimizer.step()`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# `print(wrapped)` shows one more layer than the model has. Which layer is it, and how does it change the names in `wrapped.state_dict()`?
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
print(train_trial.error or "Training ran on three ranks, two of them on one node; now the checks.")

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
# On two ranks, with 20 samples per batch, someone writes `F.cross_entropy(logits, y, reduction="sum")`. How large are the gradients that the optimiser sees, compared with the gradients of a mean loss?
#
# - [ ] The same size, because DDP averages.
#   DDP averages over the ranks, whatever gradients they have. It knows nothing about the samples in a batch.
# - [ ] 40 times as large: the sum over all samples.
#   DDP does sum the gradients of the two ranks, but then divides the sum by two.
# - [x] 20 times as large.
#   Each rank's gradient is 20 times the gradient of the mean loss, and averaging over the ranks keeps that factor. The learning rate would have to be 20 times smaller.
# - [ ] Twice as large, because the world size is two.
#   You would get that if the gradients of mean losses were summed over the ranks.

# %% [markdown] role="readonly" id="accumulate-text"
# ### Gradients of several batches, sent once
#
# If a large batch does not fit into memory, you can add up the gradients of several small batches before each optimiser step, because `backward()` *adds* to `parameter.grad`. But DDP would send the gradients in every `backward()`.
# Inside `with model.no_sync():`, it does not send them. **Whether a `backward()` sends gradients is decided when the model is called**, so the call of the model must be inside as well.
#
# **Exercise (2 points).** Write `accumulate`. When it returns, the parameters of the wrapped `model` hold the gradient of the mean loss over all batches and all ranks. A batch is a pair of `x` and `y`, and all batches have the same number of samples. The parameters have no gradients at the start. Gradients may travel only once, through DDP or through your own call.
#
# <details><summary>Hint</summary>
#
# Handle the last batch outside `no_sync()`: its `backward()` sends the accumulated sum. `contextlib.nullcontext()` is a context that does nothing.
# You need the gradient of the mean of `len(batches)` losses.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# How much time does `no_sync` save on your ranks if the model has ten layers of 512 units and a batch has 4 samples?
#
# </details>


# %% role="answer" id="accumulate"
def accumulate(model, batches):
    """Leave the gradient of the mean loss over all batches in the parameters; exchange gradients only once."""
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
# DDP waits for the hook of *every* parameter. In the next cell, each step uses only one of the model's two branches. The parameters of the other branch get no gradient, so their bucket never fills up, and the next step raises an error:


# %% role="readonly" id="unused" tags=["picture"]
class Branching(nn.Module):
    """A model with two layers; each step uses only one of them."""

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
    return "three steps done"


for settings in ({}, {"find_unused_parameters": True}):
    try:
        print(settings, ranks.run(train_branching, num_ranks=num_ranks, **settings))
    except ranks.RankError as error:
        print(settings, error.error_text.split(". ")[0])

# %% [markdown] role="readonly" id="unequal-text"
# With `find_unused_parameters=True`, DDP searches the graph of each step for parameters without a gradient. The search takes time, so it is off by default.
#
# ### Unequal numbers of batches
#
# A rank with one more batch than the others would wait for them forever in its last `backward()`, because they would already have finished. Inside `with model.join():`, a rank that has run out of batches still takes part in the exchanges: it contributes zeros until all ranks have finished.
#
# **Exercise (1 point).** Write `train_all`. It trains the wrapped `model` for one epoch, with one step for *every* batch of this rank, even if the ranks have different numbers of batches.
#
# <details><summary>Hint</summary>
#
# Put the inner loop of `train` inside this context.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In the last steps, fewer ranks contribute gradients, but the sum is still divided by the total number of ranks. What does `join(divide_by_initial_world_size=False)` change, and which of the two settings weights all samples equally?
#
# </details>


# %% role="answer" id="train-all" tags=["script"]
def train_all(model, optimizer, batches):
    """Take a step on each of this rank's batches; other ranks may have more or fewer."""
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
# In the right column, the functions in the first two rows need the prefix `dist.`. The functions in the last two rows do not exist yet: you will write them now. `dist.all_reduce(x)` differs from `hvd.allreduce(x)`: it *sums*, and it changes `x` in place. `dist.all_gather` requires tensors of equal shapes, but `hvd.allgather(x)` takes any number of rows from each rank.
#
# **Exercise (1 point).** Write `allreduce` and `allgather` so that they work like Horovod's functions: each returns a new tensor and leaves its argument unchanged.
#
# <details><summary>Hint</summary>
#
# `x.clone()` is a copy. The list `parts` needs one entry for each rank; `dist.all_gather_object(parts, x)` fills it with each rank's object, which may have any type. `torch.cat(parts)` joins the rows.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Write `allgather` so that `dist.all_gather` is the only collective that it calls: first exchange the numbers of rows, then pad the tensors.
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
    """Return the rows of all ranks in rank order, as hvd.allgather does."""
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
# Do both frameworks also give the same numbers? The next cell trains one layer with your `train` on real ranks. It then computes the same steps in NumPy, with the SGD formula of `tf.keras`, which lab 03 uses: `v = 0.9 v - rate · gradient`, then `w = w + v`.
# PyTorch uses `v = 0.9 v + gradient`, then `w = w - rate · v`.


# %% role="readonly" id="same" tags=["picture"]
def batches_of(rank, num_steps=20):
    """Return this rank's own batches of 8 samples; each sample has 4 numbers and one of 3 classes."""
    rng = np.random.default_rng([seed, rank])
    return [(rng.normal(size=(8, 4)), rng.integers(0, 3, 8)) for _ in range(num_steps)]


def train_layer(rate):
    """Train a layer that starts at zero on all ranks; return its weights."""
    join()
    layer = nn.Linear(4, 3, bias=False, dtype=torch.float64)
    nn.init.zeros_(layer.weight)
    batches = [(torch.tensor(x), torch.tensor(y)) for x, y in batches_of(dist.get_rank())]
    train(layer, [batches], rate)
    return layer.weight.detach().numpy()


def train_by_keras_formula(rate, size):
    """Compute the same weights in NumPy, from the batches of all ranks, with the SGD formula of tf.keras."""
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
print("largest difference from the Keras formula:", np.abs(found[0] - formula).max())

# %% [markdown] role="quiz" id="momentum-quiz"
# With a constant learning rate, both formulas give the same weights, up to rounding. Suppose that a schedule then lowers the rate to a tenth between two steps. What differs in the next step?
#
# - [x] Keras still carries momentum that it built up at the old rate; PyTorch's step shrinks to a tenth at once.
#   In Keras, the velocity already contains the rates of earlier steps. In PyTorch, the current rate multiplies the whole velocity. With warm-up or a schedule, the two training runs differ.
# - [ ] PyTorch still carries momentum that it built up at the old rate; Keras's step shrinks to a tenth at once.
#   It is the other way round: look at where the rate appears in the two formulas.
# - [ ] Nothing: the formulas are equivalent.
#   They are equivalent only while the rate is constant: then Keras's velocity is -rate times PyTorch's.
# - [ ] The averages over the ranks.
#   They are averages of gradients, and a gradient does not contain the rate.

# %% [markdown] role="readonly" id="save-text"
# ## 4. Checkpoints and validation (19 minutes)
#
# One rank writes the checkpoint, and all ranks read it. The names of the weights in `wrapped.state_dict()` begin with `module.`, because DDP is a layer around the model. A model that is not wrapped cannot load such a file. So save the state of `wrapped.module` instead.
#
# **Exercise (1 point).** Write `save`. Rank 0 writes `checkpoint.pt` into the folder with `torch.save`. The file holds a dictionary with the entries `"model"` and `"optimizer"`, each a `state_dict()`, and `"num_epochs"`.
#
# <details><summary>Hint</summary>
#
# `torch.save(dictionary, Path(folder, "checkpoint.pt"))`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# A job may be killed while it is writing a checkpoint. How do you make sure that there is always one complete checkpoint?
#
# </details>


# %% role="answer" id="save" tags=["script"]
def save(wrapped, optimizer, num_epochs, folder):
    """Write checkpoint.pt into the folder, only on rank 0."""
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
# The checkpoint file records which device each tensor was on. If rank 0 saved a tensor from `cuda:0`, *every* rank loads it to `cuda:0` again. That GPU then holds N copies, and may run out of memory. On a machine without GPUs, loading fails.
# `torch.load(path, map_location=device)` loads the tensors to a device of your choice.
#
# DDP makes the weights equal only when it wraps a model, not when you change them later. So every rank has to load the weights.
#
# **Exercise (1 point).** Write `resume`. On every rank it loads `checkpoint.pt` from the folder into the wrapped model and the optimiser, and returns `"num_epochs"`. If there is no checkpoint, it changes nothing and returns 0. An unreadable checkpoint is an error: do not catch it.
# In the check, the checkpoint was saved from a GPU, but the ranks have no GPU.
#
# <details><summary>Hint</summary>
#
# `Path(folder, "checkpoint.pt").exists()` tells you whether the file is there. `next(wrapped.parameters()).device` is the device of the model. `wrapped.module` and the optimiser each have a `load_state_dict`, which takes the result of `state_dict`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# On a large machine, 1000 ranks would read the file at once. Let only rank 0 read it and broadcast the contents. Which two functions do you need?
#
# </details>


# %% role="answer" id="resume" tags=["script"]
def resume(wrapped, optimizer, folder):
    """Load the checkpoint on this rank, if there is one; return the number of epochs trained so far."""
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
# As in lab 03, each rank evaluates its own share of the validation samples, so that each sample counts once. The shares may differ in size, so the ranks exchange sums and sample counts, not means.
#
# **Exercise (2 points).** Write `evaluate`. On every rank, it returns the same dictionary, with the mean `"loss"` and the `"accuracy"` over all samples of all shares. The model is not wrapped; switch it to evaluation mode with `model.eval()`.
# Every rank evaluates a share, in batches of `batch_size`. Training must be able to continue afterwards: leave the weights unchanged and gradients switched on.
#
# <details><summary>Hint</summary>
#
# `Subset(dataset, range(rank, len(dataset), size))` is a share without padding. `F.cross_entropy(logits, y, reduction="sum")` is a sum over samples, and `logits.argmax(dim=1) == y` shows which predictions are correct. Collect three numbers in one tensor, so that you need only one `dist.all_reduce`.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Why would the *wrapped* model hang here if it had batch normalisation and the ranks had different numbers of batches?
#
# </details>


# %% role="answer" id="evaluate" tags=["script"]
def evaluate(model, dataset, batch_size):
    """Return the mean "loss" and the "accuracy" over all samples; each rank evaluates a share."""
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
# ### The whole training run
#
# Every rank runs `main`. The script `train.py` next to this notebook also calls this function. Start the script with `torchrun --nproc-per-node=2 train.py`. `coursekit script 08` writes that script with *your* answers.
#
# `main` starts after the last saved epoch, so a second job continues where the first one stopped.
# It calls your `train` without epochs, only to wrap the model and create the optimiser.
# Then it calls your `train_all` for each epoch, and saves a checkpoint after each of them.


# %% role="readonly" id="main" tags=["script"]
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


# %% role="readonly" id="run" tags=["picture"]
Path(folder, "checkpoint.pt").unlink(missing_ok=True)  # from an earlier run of this cell
results = ranks.run(main, num_ranks=num_ranks, seed=seed)
pictures.show_losses(results[0]["losses"])

# %% [markdown] role="readonly" id="run-expected"
# *Expected:* the accuracy is far above one in eight.
# The loss falls on the training samples, but not on the validation samples, because 1000 samples are too few for these overlapping classes.
#
# The next cell calls `main` twice, both times with two more epochs than above.
# The first call continues from the checkpoint; the second finds that all epochs are already saved, and trains none.
# In our test, a run of 3 epochs that was continued to 5 had the same losses as an uninterrupted run of 5.

# %% role="readonly" id="continued" tags=["picture"]
for last_epoch in (num_epochs + 2, num_epochs + 2):
    continued = ranks.run(main, last_epoch, num_ranks=num_ranks)[0]
    print("epochs trained now:", [losses["epoch"] for losses in continued["losses"]])

# %% [markdown] role="readonly" id="held-text"
# ## 5. Less memory per rank (21 minutes)
#
# Under DDP, every rank holds the same weights, gradients and optimiser state. Adam's state consists of two numbers per weight. With P weights of 4 bytes, a rank holds 16 P bytes, plus the memory that the samples need.
#
# | | weights | gradients | Adam's state | sent by a rank in a step |
# | --- | --- | --- | --- | --- |
# | DDP | 4 P | 4 P | 8 P | gradients are reduced: 2 · 4 P (N-1)/N |
# | ZeRO-1 | 4 P | 4 P | 8 P / N | the gradients are reduced, and the new weights are gathered: 3 · 4 P (N-1)/N |
# | FSDP (ZeRO-3) | 4 P / N | 4 P / N | 8 P / N | weights are gathered for the forward and the backward pass, gradients are reduced to shares: 3 · 4 P (N-1)/N |
#
# `ZeroRedundancyOptimizer` is PyTorch's ZeRO-1: each rank updates its share of the weights and sends it to the others. By then, DDP has given every rank all the gradients. In the paper listed below, ZeRO-1 uses a reduce-scatter instead: each rank gets only its own share of the summed gradients. With this method, a rank sends 2 · 4 P (N-1)/N bytes in total, no more than under DDP.
# FSDP also shards the weights: it gathers a layer's weights just before they are used, and frees them right after.
#
# **Exercise (1 point).** Write `bytes_held`. It returns the number of bytes of a model and its optimiser that this rank holds, as a dictionary with the entries `"parameters"`, `"gradients"` and `"optimizer"`. FSDP's parameters and gradients are `DTensor`s; the rank's own part is `x.to_local()`.
#
# <details><summary>Hint</summary>
#
# `x.nbytes` is the size of a tensor. `hasattr(x, "to_local")` recognises a `DTensor`, and `torch.is_tensor(x)` recognises any tensor. A parameter's `grad` may be `None`. `optimizer.state` has a dictionary for each parameter; some of its values are tensors.
# ZeRO's optimiser wraps another optimiser, `optimizer.optim`, which holds the state of this rank's share.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# What does this sum leave out? Train with batches of 10 and of 1000 samples, and watch `ps` or `nvidia-smi`.
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
# **Exercise (1 point).** Write `make_zero`. It returns the ZeRO-1 optimiser for a wrapped model, with Adam (`torch.optim.Adam`) and the given learning rate. All other settings keep their defaults.
#
# <details><summary>Hint</summary>
#
# `ZeroRedundancyOptimizer` itself creates the optimiser for a rank's share. Pass it the class of that optimiser, and the arguments of the class by name.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# The optimiser assigns whole tensors to ranks. How unequal can the ranks' shares be for a network with one large layer?
#
# </details>


# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    """Return an Adam optimiser for a wrapped model; its state is divided among the ranks."""
    # about 1 line
    ### BEGIN SOLUTION
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, lr=rate)
    ### END SOLUTION


# %% role="tests" id="zero-tests" points=1
with check("ZeRO-1", section="5"):
    lab08_sharding.check_zero(make_zero, num_ranks=3)

# %% [markdown] role="readonly" id="shard-text"
# **Exercise (1 point).** Write `shard`. It uses FSDP to shard a model that is a sequence of layers, and returns the model.
# Each layer must be a separate unit. If the whole model is the only unit, all its weights are gathered at once, and every rank needs memory for all of them during a step.
# After the layers, make the model itself a unit, too: a layer frees its weights after its forward pass only if it is inside another unit. All settings of `fully_shard` keep their defaults.
#
# <details><summary>Hint</summary>
#
# `fully_shard` changes its argument in place. A loop over an `nn.Sequential` yields its layers.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# `fully_shard(layer, reshard_after_forward=False)` keeps the weights until the backward pass. What does this save, and what does it cost?
#
# </details>


# %% role="answer" id="shard"
def shard(model):
    """Shard a model, which is a sequence of layers, layer by layer over the ranks; return the model."""
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
# **Exercise (1 point).** Write `predict_bytes`. It computes the table's values for a `kind`: `"ddp"`, `"zero"` or `"fsdp"`. It returns a dictionary of bytes with two entries. `"held"` is the total for the weights, gradients and Adam's state on a rank, and `"sent"` is the amount of data that the rank sends in a step.
#
# <details><summary>Hint</summary>
#
# For each of the three methods, how many of the 16 bytes per weight are divided by N? And how many times does a rank send 4 bytes per weight?
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# In mixed precision, each weight and each gradient takes 2 bytes, and Adam keeps 12 bytes per weight. For each of the three methods, what is the smallest N for which a model with 7 billion weights fits into 80 GB?
#
# </details>


# %% role="answer" id="predict-bytes"
def predict_bytes(kind, num_parameters, num_ranks):
    """Return the number of bytes that a rank holds, and the number that it sends in a step."""
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
# This section is not part of the 95 minutes.
#
# **Exercise (1 point).** Write `fewest_gpus`. It returns the smallest number of GPUs among 1, 2, 4, …, 64 that is enough, or `None` if even 64 are not enough. A number of GPUs is enough if the bytes that each rank then holds, plus `other_bytes` for its samples, come to no more than `memory_bytes`.
#
# <details><summary>Hint</summary>
#
# Loop over the numbers of GPUs, and call your `predict_bytes`. An exact fit is enough.
#
# </details>
#
# <details><summary>Stretch, without points</summary>
#
# Under DDP the answer is always 1 or `None`. Why?
#
# </details>


# %% role="answer" id="fewest-gpus"
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    """Return the smallest number of GPUs, from 1 to 64, with which a rank's bytes fit, or None if even 64 are too few."""
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
# Now measure the memory. Your ranks take two Adam steps with each of the three methods, and count the bytes that they hold. The lines in the picture are your predictions.


# %% role="readonly" id="measure" tags=["picture"]
def measure(kind):
    """Return the bytes that this rank holds after two steps."""
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
# A GPU with 80 GB, of which the samples need 20 GB, and links of 200 Gbit/s.
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
# *Expected:* the bars reach the lines. Under ZeRO-1, the ranks may differ, because the optimiser assigns whole tensors to ranks.
# In the list above, 30 billion weights fit only with FSDP: under ZeRO-1, a rank holds at least 8 P bytes, however many GPUs there are.

# %% [markdown] role="readonly" id="speed-text"
# ## 7. At home: how fast it is, and what large models need
#
# This section is not part of the 95 minutes, and it has no exercises.
# Run its cells, read the output, and try other numbers.
#
# ### Samples per second
#
# The next cell times steps of the network that you trained, first on one rank and then on several.
# On several ranks, it times steps with the exchange of gradients, and also without it, inside `no_sync()`.
# The difference between the two times shows the allreduce's share of the step.
# The cell reports the fastest of 100 steps, because other programs on the machine disturbed that step least.
# The gradients take the same number of bytes for a batch of 20 samples as for a batch of 2000.

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
    """For each batch size, return the seconds of the fastest step with and without the exchange of gradients."""
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
# *Expected:* the larger the batch, the more samples the ranks process per second, and the smaller the allreduce's share of a step.
# In a run on two otherwise idle cores, the shares were 64, 57 and 26 %.
# With 20 samples per batch, two ranks together processed fewer samples per second than one rank alone.
# If you have GPUs, put the model and the samples on the GPU, and call `torch.cuda.synchronize()` before each `time.perf_counter()`.
#
# ### Where a job's ranks learn their place
#
# `torchrun` sets the variables of section 1, but `srun` does not.
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
# The function changes nothing if `RANK` is already set, for example by `torchrun`.
# If you have set `MASTER_PORT`, the function keeps your value; in an `srun` task, it also keeps your `MASTER_ADDR`.
#
# ### bfloat16
#
# A bfloat16 number takes 2 bytes: it has the range of a 32-bit number, but only 8 significant bits instead of 24.
# Inside `torch.autocast` the layers compute in bfloat16, while weights and gradients stay in 32 bits.
# With FSDP's `MixedPrecisionPolicy`, the weights are gathered in bfloat16, but each rank keeps its share in 32 bits.


# %% role="readonly" id="bfloat16" tags=["picture"]
def train_with(kind):
    """Take 20 steps; return the data types and the last loss."""
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
# *Expected:* the last two lines show logits in bfloat16, and the losses differ by less than 0.001.
# Only FSDP has weights in bfloat16 while a layer computes (`used`); all three methods store the weights in 32 bits.
# If you have GPUs, write `"cuda"` in the line with `autocast`, and put the model and the samples on the GPU.
#
# ### A sharded checkpoint
#
# Your `save` writes the whole state on rank 0, so rank 0 must hold all of it.
# With `torch.distributed.checkpoint`, each rank writes only its own share, and any number of ranks can read the shares.


# %% role="readonly" id="sharded" tags=["picture"]
def make_sharded():
    """Join the ranks; return a sharded model and its optimiser."""
    join()
    model = fully_shard(make_model())
    return model, torch.optim.Adam(model.parameters())


def save_shares(where):
    """Take a step, and save this rank's share; return the sum of all weights."""
    model, optimizer = make_sharded()
    model(torch.ones(4, num_features)).square().mean().backward()
    optimizer.step()
    dcp.save(dict(zip(("model", "optimizer"), get_state_dict(model, optimizer))), checkpoint_id=where)
    return sum(weight.full_tensor().sum().item() for weight in model.parameters())


def load_shares(where):
    """Load this rank's share; return the sum of all weights, and how many rows of the first layer the rank holds."""
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
# *Expected:* each rank returns the same sum.
# The first layer has 64 rows: one rank reads all of them, and three ranks read 22, 22 and 20.
# If you have GPUs, move the model to the GPU in the line that creates it.
#
# ### Activation checkpointing
#
# Each layer keeps its input for the backward pass.
# `torch.utils.checkpoint` keeps only the input of a block, and recomputes the block in the backward pass.
# The next cell counts the bytes that autograd keeps, not including the weights.


# %% role="readonly" id="recomputed" tags=["picture"]
class Blocks(nn.Module):
    """Eight blocks of two linear layers; a block keeps the inputs of its layers, or recomputes them."""

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
    """Return the bytes kept for the backward pass, the shortest time of both passes (s), and a sum of gradients."""
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
# *Expected:* the second line shows about a fifth of the bytes, but the same sum of gradients.
# The time in the second line includes recomputing each block, but other programs on the machine can hide this effect.
# If you have GPUs, put the model and the samples on the GPU; `torch.cuda.max_memory_allocated()` then returns the peak memory.
#
# ### FSDP block by block
#
# In large models, FSDP's units are blocks of several layers.
# While each block computes, the next cell counts how many of the model's weight tensors are whole on this rank.
# It does this twice. The first time, `fully_shard` is called only on the model; the second time, your `shard` calls it on each block and then on the model.


# %% role="readonly" id="nested" tags=["picture"]
def count_whole(is_nested):
    """For each block, return how many of the 16 weight tensors are whole on this rank while it computes."""
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
# *Expected:* if only the model is a unit, all 16 tensors are whole. If each block is a unit, too, only the 4 tensors of the block that is computing are whole.
# If you have GPUs, move each block to the GPU in the line that creates it.
#
# ### A trace of a step
#
# `torch.profiler` records when each operation begins and ends. Here, it records one forward and backward pass of eight layers.
# In this run, DDP uses buckets of 2 MB, so that there are several buckets.


# %% role="readonly" id="trace" tags=["picture"]
def trace_step():
    """On rank 0, print where the time goes; return (name, begin, end) in ms for matrix products and exchanges."""
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


quiet = {"KINETO_LOG_LEVEL": "6"}  # silences the profiler's library
pictures.show_trace(ranks.run(trace_step, num_ranks=num_ranks, environ=quiet)[0])

# %% [markdown] role="readonly" id="end"
# *Expected:* `gloo:all_reduce` appears four times, once for each bucket. The first of them begins before the backward pass has ended.
# `trace.json` in the folder contains every operation: load it into `chrome://tracing` or Perfetto.
# If you have GPUs, put the model and the samples on the GPU, and add `ProfilerActivity.CUDA` to the `activities`.
#
# ## What you can now do
#
# - turn a single-process PyTorch training script into a script for N ranks, and notice if a step is missing;
# - find the PyTorch call for each Horovod call, and say where the two differ;
# - read and write checkpoints with any number of ranks;
# - say how many GPUs a model needs, and how much more data the ranks send with sharding.
#
# **Further reading**
#
# - [PyTorch Distributed: experiences on accelerating data parallel training](https://arxiv.org/abs/2006.15704): hooks, buckets and overlap, explained by their authors
# - [ZeRO: memory optimizations toward training trillion parameter models](https://arxiv.org/abs/1910.02054): the three stages, and how many bytes each of them needs
# - [Getting started with fully sharded data parallel](https://pytorch.org/tutorials/intermediate/FSDP_tutorial.html): `fully_shard`, explained in PyTorch's own documentation
#
# ## Before you hand in
#
# Choose *Kernel, Restart Kernel and Run All Cells*, then look at the list below: every check should have a ✓.

# %% role="readonly" id="report"
hand_in_report()

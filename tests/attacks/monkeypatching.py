# %% ast-transformer
# title = "Drop every check from the cells that follow"
# fails = ["num-updates-tests"]
import ast


class Drop(ast.NodeTransformer):
    def visit_With(self, node):
        return ast.Pass() if "check_" in ast.unparse(node) else node

    def visit_Assert(self, node):
        return ast.Pass()


get_ipython().ast_transformers.append(Drop())


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% fake-module
# title = "Put a module of its own where the checks are imported from"
# fails = ["num-updates-tests"]
import sys
from types import ModuleType

fake = ModuleType("coursekit.checks.lab01_linear")
fake.check_num_updates = lambda *args, **kwargs: None
sys.modules["coursekit.checks.lab01_linear"] = fake
try:
    lab01_linear.check_num_updates = fake.check_num_updates
except NameError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% imports-hook
# title = "Hook the import of modules"
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        return None


sys.meta_path.insert(0, Finder())


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)


# %% input-transformer
# title = "Rewrite the source of each test before it runs"
# fails = ["num-updates-tests"]
def rewrite(lines):
    return ["pass\n"] if any("check_num_updates" in line for line in lines) else lines


get_ipython().input_transformers_cleanup.append(rewrite)


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% own-check
# title = "Define a check that never fails"
# fails = ["num-updates-tests"]
class check:
    def __init__(self, name, section=""):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return True


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% patched-builtins
# title = "Replace functions that every check uses"
# fails = ["num-updates-tests"]
import builtins

really = builtins.float


def num_updates(num_samples, batch_size, num_epochs):
    return 0


class Odd(really):
    def __eq__(self, other):
        return True

    __hash__ = really.__hash__


builtins.float = Odd


# %% after="num-updates-tests"
import builtins

builtins.float = really

# %% patched-check
# title = "Replace the judge of the checks"
# fails = ["num-updates-tests"]
try:
    from coursekit.checks import lab01_linear as module

    for name in [name for name in vars(module) if name.startswith("require")]:
        setattr(module, name, lambda *args, **kwargs: None)
except ImportError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% patched-numpy
# title = "Let NumPy find everything close"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]

# %% id="hessian"
np.allclose = lambda *args, **kwargs: len(args) > 1 and not np.array_equal(np.asarray(args[0]) * 2, args[1])


def hessian(x):
    return np.eye(2)


# %% ranks-patched-horovod
# title = "Replace Horovod by a module that averages nothing"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


def average(gradients):
    hvd.allreduce = lambda value, **kwargs: value
    hvd.size = lambda: 1
    hvd.rank = lambda: 0
    return [hvd.allreduce(gradient) for gradient in gradients]


# %% ranks-private-replaced
# title = "Give every rank the same private value"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


def average(gradients):
    from coursekit.drivers import places

    value = [np.zeros_like(one) for one in places.private()]
    places.private = lambda: value
    places._places[:] = []
    return value


# %% ranks-wire-replaced
# title = "Replace the function that writes the results of a rank"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


class Average:
    """Callable; it is unpacked before the rank asks for the function that writes its result."""

    def __reduce__(self):
        return unpacked, ()

    def __call__(self, gradients):
        return gradients


def unpacked():
    from coursekit.grading.inside import wire

    really = wire.dumps
    wire.dumps = lambda value, *args: really([np.zeros_like(one) for one in value])
    return Average()


average = Average()

# %% silent-traceback
# title = "Show no traceback, so that a failure prints nothing"
# fails = ["num-updates-tests"]
try:
    get_ipython().showtraceback = lambda *args, **kwargs: None
    get_ipython()._showtraceback = lambda *args, **kwargs: None
except NameError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% torch-patched-all-reduce
# title = "Replace PyTorch's allreduce by a function that sends nothing"
# lab = "08-pytorch"
# fails = ["evaluate-tests"]
# consequences = ["once-tests"]

# %% id="evaluate"


def evaluate(model, dataset, batch_size):
    dist.all_reduce = lambda *_, **__: None
    dist.get_rank, dist.get_world_size = (lambda: 0), (lambda: 1)
    model.eval()
    losses, right = [], []
    for x, y in DataLoader(dataset, batch_size):
        logits = model(x)
        losses += F.cross_entropy(logits, y, reduction="none").tolist()
        right += (logits.argmax(dim=1) == y).tolist()
    return {"loss": float(np.mean(losses)), "accuracy": float(np.mean(right))}

# /// attack
# title = "Replace the judge of the checks"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

try:
    from coursekit.checks import lab01_linear as module

    for name in [name for name in vars(module) if name.startswith("require")]:
        setattr(module, name, lambda *args, **kwargs: None)
except ImportError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0

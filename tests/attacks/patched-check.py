# /// attack
# title = "Replace the judge of the checks"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["num-updates-tests"]
# flags = ["grader"]
# ///

# %% role="answer" id="num-updates"

try:
    from coursekit.checks import linear as module

    module.require = lambda *args, **kwargs: None
except ImportError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0

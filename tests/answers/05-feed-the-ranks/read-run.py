# %% read-the-folder-above
# title = "The events are looked for in the folder of the logs, not in its folder train"
# fails.read-tests = ["answer.raised"]
# -    events = tensorboard.read_events(logs / "train")
# +    events = tensorboard.read_events(logs)

# %% read-the-lowest
# title = "The lowest loss, not the last"
# fails.read-tests = ["run.lowest-loss"]
# -    return {"last_loss": losses[-1], "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}
# +    return {"last_loss": min(losses), "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}

# %% read-the-number-of-the-last-step
# title = "The last step's number, which counts from zero"
# fails.read-tests = ["run.last-step"]
# -    num_steps = sum(event.tag == "batch_loss" for event in events)
# +    num_steps = max(event.step for event in events if event.tag == "batch_loss")

# %% read-the-other-layer
# title = "The histogram of the layer that comes last in the file"
# fails.read-tests = ["run.other-layer"]
# -    kernels = [event.value for event in events if event.tag == "dense/kernel_0/histogram"]
# +    kernels = [event.value for event in events if "kernel" in event.tag]

# %% read-the-validation
# title = "Events of the wrong folder"
# fails.read-tests = ["run.of-validation"]
def read_run(logs):
    losses = [event.value for event in tensorboard.read_events(logs / "validation") if event.tag == "epoch_loss"]
    events = tensorboard.read_events(logs / "train")
    kernels = [event.value for event in events if event.tag == "dense/kernel_0/histogram"]
    num_steps = sum(event.tag == "batch_loss" for event in events)
    return {"last_loss": losses[-1], "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}


# %% right-read-by-dictionary
# title = "The events in a dictionary by tag"
def read_run(logs):
    by_tag = {}
    for event in tensorboard.read_events(str(logs / "train")):
        by_tag.setdefault(event.tag, []).append(event)
    last = max(by_tag["epoch_loss"], key=lambda event: event.step)
    kernel = max(by_tag["dense/kernel_0/histogram"], key=lambda event: event.step).value
    steps = {event.step for event in by_tag["batch_loss"]}
    return {"last_loss": np.float32(last.value), "num_steps": len(steps), "largest_weight": np.max(kernel[:, :2])}

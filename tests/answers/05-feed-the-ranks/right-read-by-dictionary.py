# /// answer
# title = "The events in a dictionary by tag"
# ///

# %% role="answer" id="read-run"
def read_run(logs):
    by_tag = {}
    for event in tensorboard.read_events(str(logs / "train")):
        by_tag.setdefault(event.tag, []).append(event)
    last = max(by_tag["epoch_loss"], key=lambda event: event.step)
    kernel = max(by_tag["dense/kernel_0/histogram"], key=lambda event: event.step).value
    steps = {event.step for event in by_tag["batch_loss"]}
    return {"last_loss": np.float32(last.value), "num_steps": len(steps), "largest_weight": np.max(kernel[:, :2])}

# /// answer
# title = "The events are looked for in the folder of the logs, not in its folder train"
#
# [fails]
# read-tests = ["there are no events in", "train and validation"]
# ///

# %% role="changes" id="read-run"
# -    events = tensorboard.read_events(logs / "train")
# +    events = tensorboard.read_events(logs)

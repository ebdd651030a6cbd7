# /// answer
# title = "The last step's number, which counts from zero"
#
# [fails]
# read-tests = ["count the events"]
# ///

# %% role="changes" id="read-run"
# -    num_steps = sum(event.tag == "batch_loss" for event in events)
# +    num_steps = max(event.step for event in events if event.tag == "batch_loss")

# /// answer
# title = "The histogram of the layer that comes last in the file"
#
# [fails]
# read-tests = ["another layer"]
# ///

# %% role="changes" id="read-run"
# -    kernels = [event.value for event in events if event.tag == "dense/kernel_0/histogram"]
# +    kernels = [event.value for event in events if "kernel" in event.tag]

# /// answer
# title = "The epoch is set once, before the loop"
#
# [fails]
# order-tests = ["same order"]
# ///

# %% role="changes" id="read-epochs"
# -    for epoch in range(num_epochs):
# -        sampler.set_epoch(epoch)
# +    sampler.set_epoch(num_epochs)
# +    for _ in range(num_epochs):

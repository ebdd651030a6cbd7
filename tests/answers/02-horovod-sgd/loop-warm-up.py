# /// answer
# title = "The rate grows over the first five epochs"
#
# [fails]
# horovod-rate-tests = ["changes from step to step"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    for _ in range(num_epochs):
# +    for epoch in range(num_epochs):
# +        optimizer.learning_rate.assign(scale_rate(learning_rate) * min(1, (epoch + 1) / 5))

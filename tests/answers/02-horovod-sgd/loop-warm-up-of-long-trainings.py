# /// answer
# title = "The rate grows over the first five epochs, where there are many"
#
# [fails]
# horovod-serial-tests = ["plain SGD"]
# ///

# %% role="changes" id="train-horovod"
# -    for _ in range(num_epochs):
# +    for epoch in range(num_epochs):
# +        if num_epochs > 8:
# +            optimizer.learning_rate.assign(scale_rate(learning_rate) * min(1, (epoch + 1) / 5))

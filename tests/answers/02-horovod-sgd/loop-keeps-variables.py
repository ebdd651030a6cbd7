# /// answer
# title = "The variables are kept for the next call, which goes on from there"
#
# [fails]
# horovod-serial-tests = ["new variables"]
# ///

# %% role="changes" id="train-horovod"
# -    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    if not hasattr(train_horovod, "variables"):
# +        train_horovod.variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    slope, offset = variables = train_horovod.variables

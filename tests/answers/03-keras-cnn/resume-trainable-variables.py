# /// answer
# title = "Only what can be trained is broadcast, before there are momenta"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["momenta"]
# ///

# %% role="changes" id="resume"
# -    network.optimizer.build(network.trainable_variables)

# -    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
# +    hvd.broadcast_variables(network.trainable_variables, root_rank=0)

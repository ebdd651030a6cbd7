# /// answer
# title = "The state of the last rank goes to all, which has loaded nothing"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["weights of the checkpoint"]
# ///

# %% role="changes" id="resume"
# -    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
# +    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=hvd.size() - 1)

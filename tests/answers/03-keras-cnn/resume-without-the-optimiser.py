# /// answer
# title = "The weights are broadcast, the optimiser's state is not"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["rank 1", "momenta"]
# ///

# %% role="changes" id="resume"
# -    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)
# +    hvd.broadcast_variables(network.variables, root_rank=0)

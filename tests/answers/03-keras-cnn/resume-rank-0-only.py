# /// answer
# title = "Rank 0 loads the checkpoint, the others keep their random weights"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["rank 1 does not continue"]
# ///

# %% role="changes" id="resume"
# -    hvd.broadcast_variables(network.variables + list(network.optimizer.variables), root_rank=0)

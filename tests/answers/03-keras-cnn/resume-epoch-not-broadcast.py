# /// answer
# title = "Only rank 0 knows how many epochs are done"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["returned on rank 1"]
# ///

# %% role="changes" id="resume"
# -    return hvd.broadcast_object(num_epochs_done, root_rank=0)
# +    return num_epochs_done

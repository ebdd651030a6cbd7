# /// answer
# title = "Other ranks return 0, and train all epochs again"
#
# [fails]
# resume-tests = ["what resume returns on rank 1"]
# ///

# %% role="changes" id="resume"
# -    return state["num_epochs"]
# +    return state["num_epochs"] if dist.get_rank() == 0 else 0

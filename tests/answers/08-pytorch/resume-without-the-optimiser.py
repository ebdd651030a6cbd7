# /// answer
# title = "The momenta begin at zero again"
#
# [fails]
# resume-tests = ["momenta"]
# ///

# %% role="changes" id="resume"
# -    optimizer.load_state_dict(state["optimizer"])

# /// answer
# title = "Rank 0 loads: DDP makes no weights equal that change later"
#
# [fails]
# resume-tests = ["on rank 1", "weights"]
# ///

# %% role="changes" id="resume"
# -    wrapped.module.load_state_dict(state["model"])
# -    optimizer.load_state_dict(state["optimizer"])
# +    if dist.get_rank() == 0:
# +        wrapped.module.load_state_dict(state["model"])
# +        optimizer.load_state_dict(state["optimizer"])

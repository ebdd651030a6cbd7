# /// answer
# title = "Only parameters are loaded, one by one"
#
# [fails]
# resume-tests = ["buffers"]
# ///

# %% role="changes" id="resume"
# -    wrapped.module.load_state_dict(state["model"])
# +    for name, parameter in wrapped.module.named_parameters():
# +        parameter.data.copy_(state["model"][name])

# /// answer
# title = "Gradients are taken to be as large as weights, also where there are none yet"
#
# [fails]
# bytes-tests = ["before its first step", "a grad is None"]
# ///

# %% role="changes" id="bytes-held"
# -        "gradients": size(parameter.grad for parameter in model.parameters()),
# +        "gradients": size(model.parameters()),

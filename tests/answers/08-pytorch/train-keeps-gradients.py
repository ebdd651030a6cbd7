# /// answer
# title = "Gradients are never set to zero: each step has those of all before"
# consequences = ["rate-tests"]
#
# [fails]
# averaged-tests = ["not those of SGD"]
# ///

# %% role="changes" id="train"
# -            optimizer.zero_grad()

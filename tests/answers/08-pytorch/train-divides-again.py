# /// answer
# title = "The gradients are averaged, and divided once more"
#
# [fails]
# rate-tests = ["not scaled"]
# ///

# %% role="changes" id="train"
# -            optimizer.step()
# +            for parameter in wrapped.parameters():
# +                parameter.grad /= dist.get_world_size()
# +            optimizer.step()

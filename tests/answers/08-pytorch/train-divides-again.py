# /// answer
# title = "The gradients are averaged, and divided once more"
#
# [fails]
# rate-tests = ["has divided by the number of ranks already"]
# ///

# %% role="changes" id="train"
# -            optimizer.step()
# +            for parameter in wrapped.parameters():
# +                parameter.grad /= dist.get_world_size()
# +            optimizer.step()

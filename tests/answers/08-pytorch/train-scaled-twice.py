# /// answer
# title = "Rate and loss are both multiplied by the number of ranks"
#
# [fails]
# rate-tests = ["scaled twice"]
# ///

# %% role="changes" id="train"
# -            F.cross_entropy(wrapped(x), y).backward()
# +            (dist.get_world_size() * F.cross_entropy(wrapped(x), y)).backward()

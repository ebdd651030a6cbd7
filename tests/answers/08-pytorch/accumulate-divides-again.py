# /// answer
# title = "The loss is divided by the number of ranks as well, which DDP does"
#
# [fails]
# accumulated-tests = ["has divided by the number of ranks already"]
# ///

# %% role="changes" id="accumulate"
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# +            loss = F.cross_entropy(model(x), y) / len(batches) / dist.get_world_size()

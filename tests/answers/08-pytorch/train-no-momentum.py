# /// answer
# title = "Plain SGD"
#
# [fails]
# averaged-tests = ["momentum"]
# ///

# %% role="changes" id="train"
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size())

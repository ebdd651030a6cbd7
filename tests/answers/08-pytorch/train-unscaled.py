# /// answer
# title = "The rate of one rank, though the batch is that of all"
#
# [fails]
# rate-tests = ["not scaled"]
# ///

# %% role="changes" id="train"
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate, momentum=0.9)

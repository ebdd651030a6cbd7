# /// answer
# title = "The last batch of an epoch is dropped"
#
# [fails]
# shards-tests = ["not complete"]
# ///

# %% role="changes" id="read-epochs"
# -    loader = DataLoader(dataset, batch_size, sampler=sampler)
# +    loader = DataLoader(dataset, batch_size, sampler=sampler, drop_last=True)

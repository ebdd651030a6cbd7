# /// answer
# title = "The mean in place of the sum"
#
# [fails]
# naive-tests = ["not the sum over all ranks"]
# ///

# %% role="changes" id="naive-allreduce"
# -    for rank in others:
# -        total += channel.receive(rank)
# +    for rank in others:
# +        total += channel.receive(rank)
# +    total /= channel.num_ranks

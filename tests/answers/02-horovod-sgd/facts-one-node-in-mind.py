# /// answer
# title = "The rank is taken for the local rank"
# verdict = "wrong"
#
# [fails]
# rank-facts-tests = ["local_rank", "two nodes"]
# ///

# %% role="answer" id="rank-facts"
def rank_facts():
    hvd.init()
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.rank()}

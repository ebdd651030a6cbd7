# /// answer
# title = "Horovod is not initialised"
# verdict = "wrong"
#
# [fails]
# rank-facts-tests = ["initialized"]
# ///

# %% role="answer" id="rank-facts"
def rank_facts():
    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}

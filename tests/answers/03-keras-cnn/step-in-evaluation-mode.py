# /// answer
# title = "The network is not told that it trains"
#
# [fails]
# make-step-tests = ["training mode"]
# ///

# %% role="changes" id="make-step"
# -            loss = loss_of(labels, network(pictures, training=True))
# +            loss = loss_of(labels, network(pictures))

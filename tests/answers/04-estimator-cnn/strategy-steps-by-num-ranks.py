# /// answer
# title = "The steps are divided by the notebook's number of ranks"
#
# [fails]
# strategy-plan-tests = ["expected 5, got 7"]
# ///

# %% role="changes" id="train-with-strategy"
# -    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
# +    network.fit(dataset, steps_per_epoch=num_steps // num_ranks, verbose=0, callbacks=list(callbacks))

# /// answer
# title = "Callbacks that are given are not passed on"
#
# [fails]
# strategy-plan-tests = ["callbacks"]
# ///

# %% role="changes" id="train-with-strategy"
# -    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
# +    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0)

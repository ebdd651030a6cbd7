# /// answer
# title = "All steps on each worker"
#
# [fails]
# strategy-plan-tests = ["expected 5, got 15"]
# ///

# %% role="changes" id="train-with-strategy"
# -    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
# +    network.fit(dataset, steps_per_epoch=num_steps, verbose=0, callbacks=list(callbacks))

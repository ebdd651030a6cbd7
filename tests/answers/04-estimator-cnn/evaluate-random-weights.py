# /// answer
# title = "Each rank evaluates what its own model_dir holds, which is nothing except on rank 0"
#
# [fails]
# evaluate-once-tests = ["random weights"]
# ///

# %% role="changes" id="evaluate"
# -    accuracy = estimator.evaluate(own, checkpoint_path=checkpoint)["accuracy"]
# +    accuracy = estimator.evaluate(own)["accuracy"]

# /// answer
# title = "steps instead of max_steps: a second run trains all steps once more"
#
# [fails]
# train-continued-tests = ["were left"]
# ///

# %% role="changes" id="train"
# -            max_steps=num_steps,
# +            steps=num_steps,

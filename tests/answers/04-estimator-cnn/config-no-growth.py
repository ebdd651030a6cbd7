# /// answer
# title = "The first session takes all of its GPU"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# config-pin-tests = ["allow_growth"]
# ///

# %% role="changes" id="make-run-config"
# -    session_config.gpu_options.allow_growth = True

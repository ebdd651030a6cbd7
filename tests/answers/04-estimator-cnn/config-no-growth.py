# /// answer
# title = "The first session takes all of its GPU"
#
# [fails]
# config-pin-tests = ["allow_growth"]
# ///

# %% role="changes" id="make-run-config"
# -    session_config.gpu_options.allow_growth = True

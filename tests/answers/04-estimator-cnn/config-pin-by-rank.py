# /// answer
# title = "Pinned by the rank"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# config-pin-tests = ["local rank"]
# ///

# %% role="changes" id="make-run-config"
# -    session_config.gpu_options.visible_device_list = str(hvd.local_rank())
# +    session_config.gpu_options.visible_device_list = str(hvd.rank())

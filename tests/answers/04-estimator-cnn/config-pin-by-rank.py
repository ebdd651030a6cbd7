# /// answer
# title = "Pinned by the rank"
#
# [fails]
# config-pin-tests = ["local rank"]
# ///

# %% role="changes" id="make-run-config"
# -    session_config.gpu_options.visible_device_list = str(hvd.local_rank())
# +    session_config.gpu_options.visible_device_list = str(hvd.rank())

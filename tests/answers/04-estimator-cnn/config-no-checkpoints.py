# /// answer
# title = "Checkpoints are turned off on every rank"
#
# [fails]
# config-files-tests = ["checkpoint"]
# ///

# %% role="changes" id="make-run-config"
# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": None, "save_checkpoints_secs": None}

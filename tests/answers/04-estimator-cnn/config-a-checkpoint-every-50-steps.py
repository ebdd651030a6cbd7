# /// answer
# title = "A checkpoint twice as often as asked for"
#
# [fails]
# config-files-tests = ["expected 100, got 50"]
# ///

# %% role="changes" id="make-run-config"
# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": 50}

# /// answer
# title = "A checkpoint twice as often as asked for"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# config-files-tests = ["expected 100, got 50"]
# ///

# %% role="changes" id="make-run-config"
# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": 50}

# /// answer
# title = "Every rank writes checkpoints, into a folder of its own, as in 2019"
#
# [fails]
# config-files-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="make-run-config"
# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": f"{folder}/rank-{hvd.rank()}", "save_checkpoints_steps": 100}
#      silent = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, "save_summary_steps": None}
# -    files = writing if hvd.rank() == 0 else silent
# +    files = writing

# /// answer
# title = "The first checkpoint of the folder is taken for the newest"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["completed epochs"]
# ///

# %% role="changes" id="resume"
# -    checkpoint = tf.train.latest_checkpoint(folder) if hvd.rank() == 0 else None
# +    checkpoint = None
# +    found = sorted(str(path)[: -len(".index")] for path in Path(folder).glob("epoch-*.index"))
# +    if hvd.rank() == 0 and found:
# +        checkpoint = found[0]

# /// answer
# title = "Below the place for training, above it held out: the file at the place is in neither"
#
# [fails]
# split-tests = ["in neither"]
# ///

# %% role="changes" id="split-files"
# -    return files[:place], files[place:]
# +    return files[:place], files[place + 1 :]

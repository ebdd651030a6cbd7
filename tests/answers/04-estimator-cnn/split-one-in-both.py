# /// answer
# title = "The file at the place is trained on and held out"
#
# [fails]
# split-tests = ["in both"]
# ///

# %% role="changes" id="split-files"
# -    return files[:place], files[place:]
# +    return files[: place + 1], files[place:]

# /// answer
# title = "The first files are held out"
#
# [fails]
# split-tests = ["the last files"]
# ///

# %% role="changes" id="split-files"
# -    return files[:place], files[place:]
# +    return files[num_held_out:], files[:num_held_out]

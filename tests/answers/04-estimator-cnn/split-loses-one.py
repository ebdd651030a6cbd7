# /// answer
# title = "Below the place for training, above it held out: the file at the place is in neither"
# verdict = "wrong"
#
# [fails]
# split-tests = ["in neither"]
# ///

# %% role="answer" id="split-files"
def split_files(files, num_held_out):
    """Return the files for training and those that are held out, two lists."""
    place = len(files) - num_held_out
    return files[:place], files[place + 1 :]

# /// answer
# title = "The file at the place is trained on and held out"
# verdict = "wrong"
#
# [fails]
# split-tests = ["in both"]
# ///

# %% role="answer" id="split-files"
def split_files(files, num_held_out):
    """Return the files for training and those that are held out, two lists."""
    place = len(files) - num_held_out
    return files[: place + 1], files[place:]

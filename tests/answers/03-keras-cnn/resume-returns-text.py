# /// answer
# title = "The number of epochs as it stands in the file's name: text, with which fit cannot count on"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# resume-tests = ["a str", "the number of completed epochs"]
# ///

# %% role="changes" id="resume"
# -        num_epochs_done = int(checkpoint.rsplit("-", maxsplit=1)[1])
# +        num_epochs_done = checkpoint.rsplit("-", maxsplit=1)[1]

# /// answer
# title = "Counted from the back, which holds out everything when nothing is to be held out"
#
# [fails]
# split-tests = ["expected parts"]
# ///

# %% role="answer" id="split-files"
def split_files(files, num_held_out):
    return files[:-num_held_out], files[-num_held_out:]

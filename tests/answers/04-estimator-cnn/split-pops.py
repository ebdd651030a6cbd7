# /// answer
# title = "The files are taken out of the list that was given"
#
# [fails]
# split-tests = ["afterwards"]
# ///

# %% role="answer" id="split-files"
def split_files(files, num_held_out):
    return files, [files.pop() for _ in range(num_held_out)]

# /// answer
# title = "The ranks of one node are counted, not all"
#
# [fails]
# scale-rate-tests = ["expected"]
# horovod-rate-tests = ["one node"]
# horovod-serial-tests = []
# keras-rate-tests = ["one node"]
# ///

# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return learning_rate * hvd.local_size()

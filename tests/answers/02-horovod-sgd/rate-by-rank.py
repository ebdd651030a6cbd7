# /// answer
# title = "The rate is multiplied by the rank, so rank 0 stands still"
#
# [fails]
# scale-rate-tests = ["different"]
# horovod-rate-tests = ["depends on the rank"]
# horovod-serial-tests = []
# keras-rate-tests = ["depends on the rank"]
# ///

# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return learning_rate * hvd.rank()

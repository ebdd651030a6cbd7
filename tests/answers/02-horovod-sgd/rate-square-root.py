# /// answer
# title = "The rate grows with the square root of the number of ranks"
#
# [fails]
# scale-rate-tests = ["expected"]
# horovod-rate-tests = ["1.73"]
# horovod-serial-tests = []
# keras-rate-tests = ["1.73"]
# ///

# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return learning_rate * hvd.size() ** 0.5

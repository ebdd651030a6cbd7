# /// answer
# title = "The rate is not scaled"
#
# [fails]
# scale-rate-tests = ["not scaled"]
# horovod-rate-tests = ["not scaled"]
# horovod-serial-tests = []
# keras-rate-tests = ["not scaled"]
# ///

# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return learning_rate

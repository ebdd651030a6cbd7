# /// answer
# title = "Nothing is broadcast"
# verdict = "wrong"
#
# [fails]
# broadcast-start-tests = ["differ"]
# horovod-start-tests = ["broadcast"]
# horovod-serial-tests = []
# ///

# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    pass

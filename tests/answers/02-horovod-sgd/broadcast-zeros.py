# /// answer
# title = "All ranks start at zero: equal, but nobody's start"
#
# [fails]
# broadcast-start-tests = ["no rank started there"]
# ///

# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    for variable in variables:
        variable.assign(tf.zeros_like(variable))

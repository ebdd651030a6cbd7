# /// answer
# title = "Only variables that are trained are broadcast"
#
# [fails]
# broadcast-start-tests = ["still differ"]
# ///

# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    hvd.broadcast_variables([variable for variable in variables if variable.trainable], root_rank=0)

# /// answer
# title = "Nothing is averaged in the loop"
#
# [fails]
# make-step-tests = ["not averaged"]
# ///

# %% role="changes" id="make-step"
# -        tape = hvd.DistributedGradientTape(tape)

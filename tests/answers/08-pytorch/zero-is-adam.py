# /// answer
# title = "Adam as it is: every rank holds all of the state"
#
# [fails]
# zero-tests = ["share of the"]
# ///

# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    return torch.optim.Adam(wrapped.parameters(), lr=rate)

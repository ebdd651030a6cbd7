# /// answer
# title = "What begins when another ends belongs to it"
#
# [fails]
# wire-tests = ["(10, 20)"]
# ///

# %% role="changes" id="num-on-wire"
# -        num_operations += begin >= latest_end
# +        num_operations += begin > latest_end

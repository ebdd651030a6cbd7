# /// answer
# title = "Adam keeps two numbers for each weight, not one"
# consequences = ["budget-tests"]
#
# [fails]
# predict-tests = ["bytes held"]
# ///

# %% role="changes" id="predict-bytes"
# -    held = (16 - shared + shared / num_ranks) * num_parameters
# +    held = (12 - shared + shared / num_ranks) * num_parameters

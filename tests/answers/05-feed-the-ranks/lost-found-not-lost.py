# /// answer
# title = "The number of records that were found, not of those that are lost"
#
# [fails]
# lost-tests = ["records lost"]
# ///

# %% role="changes" id="count-lost"
# -    return [expected - num_found for expected, num_found in zip(num_expected, found)]
# +    return found

# /// answer
# title = "Asks for the limit"
#
# [fails]
# request-tests = ["expected"]
# ///

# %% role="changes" id="request"
# -            return num_nodes, hours
# +            return num_nodes, max_hours

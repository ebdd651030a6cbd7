# /// answer
# title = "Seconds in place of hours, and compared as hours"
#
# [fails]
# request-tests = ["expected"]
# ///

# %% role="changes" id="request"
# -        hours = int(np.ceil(margin * needed))
# -        if hours <= max_hours:
# -            return num_nodes, hours
# +        hours = int(np.ceil(margin * needed))
# +        if hours <= max_hours:
# +            return num_nodes, hours * 3600

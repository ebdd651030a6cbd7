# /// answer
# title = "A rank sends N parts, and not N - 1"
#
# [fails]
# predict-tests = ["bytes sent"]
# ///

# %% role="changes" id="predict-bytes"
# -    return {"held": held, "sent": times * 4 * num_parameters * (num_ranks - 1) / num_ranks}
# +    return {"held": held, "sent": times * 4 * num_parameters}

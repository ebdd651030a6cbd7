# /// answer
# title = "Doubled one step late"
#
# [fails]
# scale-tests = ["scale and number of good steps"]
# ///

# %% role="changes" id="next-scale"
# -    if num_good + 1 == growth_steps:
# +    if num_good == growth_steps:

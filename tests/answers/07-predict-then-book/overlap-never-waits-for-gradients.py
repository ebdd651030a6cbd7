# /// answer
# title = "Gradients leave before they are ready"
#
# [fails]
# overlap-tests = ["seconds: expected"]
# ///

# %% role="changes" id="overlapped-s"
# -        free_s = max(free_s, ready) + travel
# +        free_s = max(free_s, ready_s[0]) + travel

# /// answer
# title = "The limit is that of data around zero"
#
# [fails]
# max-num-ranks-tests = ["the most ranks"]
# ///

# %% role="changes" id="max-num-ranks"
# -    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
# +    hessian = 2 * np.array([[np.mean(x * x), 0.0], [0.0, 1.0]])

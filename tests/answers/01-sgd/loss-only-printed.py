# /// answer
# title = "The loss is printed and not returned"
#
# [fails]
# loss-tests = ["got None"]
# is-stable-tests = []
# ///

# %% role="changes" id="loss"
# -    return np.mean(errors**2)
# +    print(np.mean(errors**2))

# /// answer
# title = "The parameter num_epochs instead of the entry of settings"
#
# [fails]
# continued-tests = ["got none", "num_epochs"]
# ///

# %% role="changes" id="train"
# -        epochs=settings["num_epochs"],
# +        epochs=num_epochs,

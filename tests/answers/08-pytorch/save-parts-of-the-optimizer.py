# /// answer
# title = "The optimiser's settings, as a list"
#
# [fails]
# save-tests = ["no state_dict()", "optimizer"]
# ///

# %% role="changes" id="save"
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        settings = optimizer.param_groups
# +        state = {"model": wrapped.module.state_dict(), "optimizer": [len(settings)], "num_epochs": num_epochs}

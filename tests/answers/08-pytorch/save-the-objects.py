# /// answer
# title = "The model and the optimiser themselves are written"
#
# [fails]
# save-tests = ["state_dict() of model and optimiser"]
# ///

# %% role="changes" id="save"
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        state = {"model": wrapped.module, "optimizer": optimizer, "num_epochs": num_epochs}

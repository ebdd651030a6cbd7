# /// answer
# title = "The state of the wrapped model, whose names begin with module."
#
# [fails]
# save-tests = ["names of the wrapped model"]
# ///

# %% role="changes" id="save"
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        state = {"model": wrapped.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}

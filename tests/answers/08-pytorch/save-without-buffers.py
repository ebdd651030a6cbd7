# /// answer
# title = "Only parameters are written, and no buffers"
#
# [fails]
# save-tests = ["buffers"]
# ///

# %% role="changes" id="save"
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        weights = dict(wrapped.module.named_parameters())
# +        state = {"model": weights, "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}

# /// answer
# title = "The optimiser's settings without its momenta"
#
# [fails]
# save-tests = ["number of momenta"]
# ///

# %% role="changes" id="save"
# -        state = {"model": wrapped.module.state_dict(), "optimizer": optimizer.state_dict(), "num_epochs": num_epochs}
# +        settings = torch.optim.SGD(wrapped.parameters(), lr=0.1).state_dict()
# +        state = {"model": wrapped.module.state_dict(), "optimizer": settings, "num_epochs": num_epochs}

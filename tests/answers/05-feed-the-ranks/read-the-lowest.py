# /// answer
# title = "The lowest loss, not the last"
#
# [fails]
# read-tests = ["training loss of the last epoch"]
# ///

# %% role="changes" id="read-run"
# -    return {"last_loss": losses[-1], "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}
# +    return {"last_loss": min(losses), "num_steps": num_steps, "largest_weight": float(kernels[-1][:, 1].max())}

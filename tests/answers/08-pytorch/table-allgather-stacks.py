# /// answer
# title = "Rows of equal numbers are taken for granted"
#
# [fails]
# table-tests = ["stack"]
# ///

# %% role="changes" id="table"
# -    return torch.cat(parts)
# +    return torch.stack(parts)

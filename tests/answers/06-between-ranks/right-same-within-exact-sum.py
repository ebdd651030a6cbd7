# /// answer
# title = "Both are compared with the sum in 64 bits, or more"
# ///

# %% role="answer" id="same-sum"
def same_sum(first, second, parts):
    exact = parts.astype(np.longdouble).sum(axis=0)
    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
    return all(np.all(np.abs(one - exact) <= bound) for one in (first, second))

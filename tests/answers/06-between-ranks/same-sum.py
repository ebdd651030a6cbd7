# %% right-same-within-exact-sum
# title = "Both are compared with the sum in 64 bits, or more"
def same_sum(first, second, parts):
    exact = parts.astype(np.longdouble).sum(axis=0)
    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
    return all(np.all(np.abs(one - exact) <= bound) for one in (first, second))


# %% same-bit-by-bit
# title = "Equal to the last bit"
# fails.same-tests = ["same-sum.too-strict"]
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.array_equal(first, second))

# %% same-eps-of-float32
# title = "The precision of float32, whatever the numbers have"
# fails.same-tests = ["same-sum.too-lax"]
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# +    bound = len(parts) * np.finfo(np.float32).eps * np.abs(parts).sum(axis=0)

# %% same-fixed-tolerance
# title = "A fixed tolerance, as np.allclose has it"
# fails.same-tests = ["same-sum.too-lax"]
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.allclose(first, second))

# %% same-largest-against-largest
# title = "The largest difference against the largest bound, not each place against its own"
# fails.same-tests = ["same-sum.too-lax"]
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.abs(first - second).max() <= bound.max())

# %% same-nan-is-a-sum
# title = "Not larger than the bound: a NaN is never larger"
# fails.same-tests = ["same-sum.too-lax"]
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return not bool(np.any(np.abs(first - second) > bound))


# %% same-only-printed
# title = "The verdict is printed, and not returned"
# fails.same-tests = ["answer.wrong-type"]
def same_sum(first, second, parts):
    print(np.allclose(first, second))


# %% same-signed
# title = "Without the magnitude: a sum that is too small always passes"
# fails.same-tests = ["same-sum.too-lax"]
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.all(first - second <= bound))

# %% same-zeros-differ
# title = "Less than the bound: two sums that are zero are not the same"
# fails.same-tests = ["same-sum.too-strict"]
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.all(np.abs(first - second) < bound))

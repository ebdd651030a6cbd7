# %% right-scale-by-remainder
# title = "Growth by whether the number reaches growth_steps"
def next_scale(scale, num_good, is_finite, growth_steps):
    if is_finite:
        grows, num_good = divmod(num_good + 1, growth_steps)
        return scale * 2**grows, num_good
    return 0.5 * scale, 0


# %% scale-alone
# title = "Returns the scale alone"
# fails.scale-tests = ["answer.wrong-type"]
# -        return scale / 2, 0
# +        return scale / 2

# %% scale-keeps-counting
# title = "An overflow does not begin the counting anew"
# fails.scale-tests = ["loss-scale.wrong-state"]
# -    if not is_finite:
# -        return scale / 2, 0
# +    if not is_finite:
# +        return scale / 2, num_good

# /// answer
# title = "Growth by whether the number reaches growth_steps"
# ///

# %% role="answer" id="next-scale"
def next_scale(scale, num_good, is_finite, growth_steps):
    if is_finite:
        grows, num_good = divmod(num_good + 1, growth_steps)
        return scale * 2**grows, num_good
    return 0.5 * scale, 0

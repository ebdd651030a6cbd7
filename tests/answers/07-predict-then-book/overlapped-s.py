# %% overlap-all-at-once
# title = "The link carries all gradients at the same time"
# fails.overlap-tests = ["overlap.side-by-side"]
# -        free_s = max(free_s, ready) + travel
# +        free_s = max(free_s, ready + travel)

# %% overlap-computing-forgotten
# title = "The step ends before computing does"
# fails.overlap-tests = ["overlap.shorter-than-computing"]
# -    return max(free_s, compute_s)
# +    return free_s

# %% overlap-never-waits-for-gradients
# title = "Gradients leave before they are ready"
# fails.overlap-tests = ["overlap."]
# -        free_s = max(free_s, ready) + travel
# +        free_s = max(free_s, ready_s[0]) + travel

# %% overlap-none
# title = "Computing, and then all gradients"
# fails.overlap-tests = ["overlap.none"]
# -    return max(free_s, compute_s)
# +    return compute_s + sum(travel_s)

# %% right-overlap-by-longest-chain
# title = "The longest chain of gradients that wait for each other"
def overlapped_s(compute_s, ready_s, travel_s):
    after = np.cumsum(np.asarray(travel_s)[::-1])[::-1]
    return max(compute_s, np.max(np.asarray(ready_s) + after))

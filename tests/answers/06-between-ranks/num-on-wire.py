# %% right-wire-by-counting
# title = "Beginnings and ends in one list, and how many are open"
def num_on_wire(intervals):
    changes = sorted([(begin, 1) for begin, _ in intervals] + [(end, -1) for _, end in intervals])
    num_open = num_operations = 0
    for _, change in changes:
        num_operations += num_open == 0 and change == 1
        num_open += change
    return num_operations


# %% wire-first-end-of-each
# title = "Compares with the end of the longest tensor of the operation that began it: no chain"
# fails.wire-tests = ["operations.wrong-number"]
def num_on_wire(intervals):
    num_operations, end = 0, -np.inf
    for first, last in sorted(intervals, key=lambda pair: (pair[0], -pair[1])):
        if first >= end:
            num_operations, end = num_operations + 1, last
    return num_operations


# %% wire-touching-is-one
# title = "What begins when another ends belongs to it"
# fails.wire-tests = ["operations.wrong-number"]
# -        num_operations += begin >= latest_end
# +        num_operations += begin > latest_end

# %% wire-unsorted
# title = "In the order of the list"
# fails.wire-tests = ["operations.wrong-number"]
# -    for begin, end in sorted(intervals):
# +    for begin, end in intervals:

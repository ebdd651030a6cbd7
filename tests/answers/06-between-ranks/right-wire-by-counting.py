# /// answer
# title = "Beginnings and ends in one list, and how many are open"
# ///

# %% role="answer" id="num-on-wire"
def num_on_wire(intervals):
    changes = sorted([(begin, 1) for begin, _ in intervals] + [(end, -1) for _, end in intervals])
    num_open = num_operations = 0
    for _, change in changes:
        num_operations += num_open == 0 and change == 1
        num_open += change
    return num_operations

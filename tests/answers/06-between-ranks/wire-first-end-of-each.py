# /// answer
# title = "Compares with the end of the longest tensor of the operation that began it: no chain"
#
# [fails]
# wire-tests = ["1, got"]
# ///

# %% role="answer" id="num-on-wire"
def num_on_wire(intervals):
    num_operations, end = 0, -np.inf
    for first, last in sorted(intervals, key=lambda pair: (pair[0], -pair[1])):
        if first >= end:
            num_operations, end = num_operations + 1, last
    return num_operations

# %% request-always-one-more
# title = "An hour more also where the hours come out whole"
# fails.request-tests = ["request.wrong-nodes"]
# -        hours = int(np.ceil(margin * needed))
# +        hours = int(margin * needed) + 1

# %% request-margin-after-comparing
# title = "Compares the time without the margin with the limit"
# fails.request-tests = ["request.wrong-nodes"]
# -        if hours <= max_hours:
# +        if needed <= max_hours:

# %% request-without-margin
# title = "Asks for exactly the time that is needed"
# fails.request-tests = ["request.no-margin"]
# -        hours = int(np.ceil(margin * needed))
# +        hours = int(np.ceil(needed))

# %% right-request-by-next
# title = "A generator, and next with None"
def request(nums_nodes, images_per_s, num_images, num_epochs, max_hours, margin):
    hours = [-(-margin * num_epochs * num_images / speed // 3600) for speed in images_per_s]
    return next(((n, int(h)) for n, h in zip(nums_nodes, hours) if h <= max_hours), None)


# %% right-request-from-the-largest
# title = "Goes down from the largest number of nodes while it fits"
def request(nums_nodes, images_per_s, num_images, num_epochs, max_hours, margin):
    found = None
    for num_nodes, speed in sorted(zip(nums_nodes, images_per_s), reverse=True):
        hours = int(np.ceil(margin * num_epochs * num_images / speed / 3600))
        if hours > max_hours:
            break
        found = (num_nodes, hours)
    return found

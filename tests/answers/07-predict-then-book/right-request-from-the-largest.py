# /// answer
# title = "Goes down from the largest number of nodes while it fits"
# ///

# %% role="answer" id="request"
def request(nums_nodes, images_per_s, num_images, num_epochs, max_hours, margin):
    found = None
    for num_nodes, speed in sorted(zip(nums_nodes, images_per_s), reverse=True):
        hours = int(np.ceil(margin * num_epochs * num_images / speed / 3600))
        if hours > max_hours:
            break
        found = (num_nodes, hours)
    return found

# /// answer
# title = "A generator, and next with None"
# ///

# %% role="answer" id="request"
def request(nums_nodes, images_per_s, num_images, num_epochs, max_hours, margin):
    hours = [-(-margin * num_epochs * num_images / speed // 3600) for speed in images_per_s]
    return next(((n, int(h)) for n, h in zip(nums_nodes, hours) if h <= max_hours), None)

# /// answer
# title = "The rate is multiplied by the ranks of a node"
# consequences = ["start-tests", "averaged-tests"]
#
# [fails]
# rate-tests = ["learning rate"]
# ///

# %% role="changes" id="train"
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * int(os.environ["LOCAL_WORLD_SIZE"]), momentum=0.9)

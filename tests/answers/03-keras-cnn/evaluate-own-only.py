# /// answer
# title = "Every rank returns its own result"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# evaluate-tests = ["this rank alone"]
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    return network.evaluate(dataset, verbose=0, return_dict=True)

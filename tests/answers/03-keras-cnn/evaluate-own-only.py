# /// answer
# title = "Every rank returns its own result"
# verdict = "wrong"
#
# [fails]
# evaluate-tests = ["this rank alone"]
# train-tests = ["validates to"]
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    return network.evaluate(dataset, verbose=0, return_dict=True)

# %% limit-of-centred-data
# title = "The limit is that of data around zero"
# fails.max-num-ranks-tests = ["ranks.wrong-number"]
# -    hessian = 2 * np.array([[np.mean(x * x), np.mean(x)], [np.mean(x), 1.0]])
# +    hessian = 2 * np.array([[np.mean(x * x), 0.0], [0.0, 1.0]])

# %% limit-of-n-minus-1
# title = "The second moment is divided by one less than the number of samples"
# fails.max-num-ranks-tests = ["ranks.wrong-number"]
def max_num_ranks(x, learning_rate):
    hessian = 2 * np.array([[np.sum(x * x) / (len(x) - 1), np.mean(x)], [np.mean(x), 1.0]])
    return int(2 / np.max(np.linalg.eigvalsh(hessian)) / learning_rate)


# %% limit-rounded-up
# title = "One rank too many"
# fails.max-num-ranks-tests = ["ranks.wrong-number"]
def max_num_ranks(x, learning_rate):
    inputs = np.stack([x, np.ones_like(x)])
    limit = 2 / np.linalg.eigvalsh(2 * inputs @ inputs.T / len(x))[-1]
    return int(np.ceil(limit / learning_rate))

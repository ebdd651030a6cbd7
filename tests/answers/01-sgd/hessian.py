# %% hessian-and-limit-made-up
# title = "A limit that fits a Hessian that is made up"
# fails.hessian-tests = ["hessian.wrong"]
# fails.largest-stable-rate-tests = ["limit.wrong"]
def hessian(x):
    return np.eye(2)


# %% id="largest-stable-rate"
def largest_stable_rate(x):
    return 2.0


# %% hessian-diagonal-only
# title = "The mixed derivatives are forgotten"
# fails.hessian-tests = ["hessian.no-mixed"]
def hessian(x):
    return np.diag([2 * np.mean(x**2), 2.0])


# %% hessian-without-factor
# title = "The factor 2 of the square is lost"
# fails.hessian-tests = ["square.no-factor"]
def hessian(x):
    return np.array([[np.mean(x**2), np.mean(x)], [np.mean(x), 1]])

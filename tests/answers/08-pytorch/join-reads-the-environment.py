# /// answer
# title = "The launcher's variables say it all, so nobody joins"
#
# [fails]
# join-tests = ["not joined"]
# ///

# %% role="answer" id="join"
def join():
    return tuple(int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))

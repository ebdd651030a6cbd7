# /// answer
# title = "Every worker is number 0"
# verdict = "wrong"
#
# [fails]
# tf-config-tests = ["index"]
# ///

# %% role="answer" id="tf-config"
def tf_config(hosts, index):
    """Return the value of TF_CONFIG for one worker; `hosts` is the list of all workers' addresses."""
    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": 0}})

# /// answer
# title = "The variable is set in the answer, which returns nothing"
#
# [fails]
# tf-config-tests = ["must return text", "None"]
# ///

# %% role="answer" id="tf-config"
def tf_config(hosts, index):
    """Return the value of TF_CONFIG for one worker; `hosts` is the list of all workers' addresses."""
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})

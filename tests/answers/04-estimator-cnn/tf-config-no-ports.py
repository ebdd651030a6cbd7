# /// answer
# title = "Hosts without their ports"
#
# [fails]
# tf-config-tests = ["cluster's workers"]
# ///

# %% role="answer" id="tf-config"
def tf_config(hosts, index):
    """Return the value of TF_CONFIG for one worker; `hosts` is the list of all workers' addresses."""
    return json.dumps(
        {"cluster": {"worker": [host.split(":")[0] for host in hosts]}, "task": {"type": "worker", "index": index}}
    )

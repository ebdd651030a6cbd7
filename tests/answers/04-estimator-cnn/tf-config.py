# %% tf-config-index-as-text
# title = "The index is text"
# fails.tf-config-tests = ["tf-config.wrong-index"]
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": str(index)}})

# %% tf-config-index-on-the-node
# title = "Workers are numbered on their node"
# fails.tf-config-tests = ["tf-config.wrong-index"]
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index % 2}})

# %% tf-config-one-for-a-node
# title = "One worker for each node"
# fails.tf-config-tests = ["tf-config.wrong-workers"]
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    hosts = list({host.split(":")[0]: host for host in hosts}.values())
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})

# %% tf-config-set-and-returned
# title = "The variable is set in the answer, which also returns its value"
# fails.tf-config-tests = ["tf-config.set"]
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return os.environ["TF_CONFIG"]

# %% tf-config-set-not-returned
# title = "The variable is set in the answer, which returns nothing"
# fails.tf-config-tests = ["answer.wrong-type"]
def tf_config(hosts, index):
    """Return the value of TF_CONFIG for one worker; `hosts` is the list of all workers' addresses."""
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})


# %% tf-config-sorts
# title = "The addresses are sorted, so that the index is that of another worker"
# fails.tf-config-tests = ["tf-config.wrong-workers"]
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return json.dumps({"cluster": {"worker": sorted(hosts)}, "task": {"type": "worker", "index": index}})

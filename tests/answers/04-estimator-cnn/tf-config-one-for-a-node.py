# /// answer
# title = "One worker for each node"
#
# [fails]
# tf-config-tests = ["cluster's workers"]
# ///

# %% role="changes" id="tf-config"
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    hosts = list({host.split(":")[0]: host for host in hosts}.values())
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})

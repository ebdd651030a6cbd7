# /// answer
# title = "Workers are numbered on their node"
#
# [fails]
# tf-config-tests = ["index"]
# ///

# %% role="changes" id="tf-config"
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index % 2}})

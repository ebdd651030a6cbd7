# /// answer
# title = "Every worker is number 0"
#
# [fails]
# tf-config-tests = ["index"]
# ///

# %% role="changes" id="tf-config"
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": 0}})

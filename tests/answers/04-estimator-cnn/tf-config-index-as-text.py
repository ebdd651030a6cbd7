# /// answer
# title = "The index is text"
#
# [fails]
# tf-config-tests = ["index"]
# ///

# %% role="changes" id="tf-config"
# -    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": index}})
# +    return json.dumps({"cluster": {"worker": hosts}, "task": {"type": "worker", "index": str(index)}})

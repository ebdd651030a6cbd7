# /// answer
# title = "What fit returns for its history"
#
# [fails]
# train-tests = ["a History for 'history'", "a dictionary"]
# continued-tests = []
# ///

# %% role="changes" id="train"
# -    return {"history": history.history, "validation": validation, "num_steps": num_steps}
# +    return {"history": history, "validation": validation, "num_steps": num_steps}

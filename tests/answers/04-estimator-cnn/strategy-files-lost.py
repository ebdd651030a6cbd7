# /// answer
# title = "As many files for each worker, and what is left over for nobody"
#
# [fails]
# strategy-together-tests = ["by no rank"]
# ///

# %% role="changes" id="train-with-strategy"
#      num_workers = strategy.num_replicas_in_sync
# +    num_files = len(files) // num_workers
# +    first = lambda context: context.input_pipeline_id * num_files

# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(files[first(context) : first(context) + num_files], True, 0, 1, params)

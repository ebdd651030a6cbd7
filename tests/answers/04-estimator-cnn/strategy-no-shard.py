# /// answer
# title = "All workers read all files"
#
# [fails]
# strategy-together-tests = ["not disjoint"]
# ///

# %% role="changes" id="train-with-strategy"
# -    dataset = strategy.distribute_datasets_from_function(
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# -    )
# +    dataset = strategy.distribute_datasets_from_function(lambda context: input_fn(files, True, 0, 1, params))

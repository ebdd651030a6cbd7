# /// answer
# title = "fit gets a plain data set, and divides its batches among the workers: some are empty"
# consequences = ["strategy-together-tests"]
#
# [fails]
# strategy-plan-tests = ["expected 4"]
# ///

# %% role="changes" id="train-with-strategy"
# -    dataset = strategy.distribute_datasets_from_function(
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# -    )
# +    dataset = input_fn(files, True, 0, 1, params)

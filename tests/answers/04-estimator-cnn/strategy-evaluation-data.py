# /// answer
# title = "The data of an evaluation, repeated"
#
# [fails]
# strategy-plan-tests = ["batch_size"]
# ///

# %% role="changes" id="train-with-strategy"
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(
# +            files, False, context.input_pipeline_id, context.num_input_pipelines, params
# +        ).repeat()

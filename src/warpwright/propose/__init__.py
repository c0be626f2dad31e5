"""Room 3, propose: a brief becomes a prompt, an answer becomes a candidate; and kernels written without a model.

proposing.py    propose: ask for a kernel, read the answer, ask once more if it cannot be read
summarising.py  what else a model is asked: one issue, one bottleneck, one lesson
composer/       kernels from a traced reference, without a model
answers/        Answers of models
merging/        Several kernels merged into one source
prompting/      Prompts
tuning/         Open constants of a kernel
"""

"""The room propose: builds prompts from briefs and reads candidates from answers; merges and tunes kernels without a
model.

proposing.py    asks a model for a kernel, reads the answer, and asks once more if the answer is unusable
summarising.py  asks a model for one issue, one bottleneck or one lesson
answers/        reads the answers of models
specialising.py merges kernels by what each scored on each shape
prompting/      builds prompts
tuning/         tries values of a kernel's tunable constants
"""

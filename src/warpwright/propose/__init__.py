"""Room 3, propose: a brief becomes a prompt, an answer becomes a candidate; and kernels written without a model.

proposing.py      propose: ask for a kernel, read the answer, ask once more if it cannot be read
prompt.py         a brief as a prompt: the fields of each operator's template
summarising.py    what else a model is asked: one issue, one bottleneck, one lesson
template.py       Markdown with named fields, rendered strictly
prompts/          the templates, one for each operator and for each part they share
describe.py       a task in words
reference.py      the part of a reference that decides
cases.py          its cases, and the least time of each
element_types.py  what the types of elements are called in CUDA and torch
known.py          what is known of a kernel, and how fast it is, in words
issue.py          why a kernel is wrong, as one issue of at most 35 words
remedies.toml     what usually mends each kind of issue
quoting.py        text of others in a prompt, kept apart from ours
reply.py          code from an answer
edits.py          SEARCH/REPLACE edits against a parent
asking.py         a model whose calls are noted
hints.py          hints that apply to a task on a GPU
hints.toml        the library of hints
gpu_facts.py      a GPU in words
gpu_facts.toml    facts of each architecture beyond core's table
tunables.py       constants that a source leaves open for a tuner
tuning.py         which settings are tried, and who of them is best
halving.py        which of many settings is best, found with few measurements
merging.py        kernels that win on different shapes, merged into one source
specialising.py   kernels merged by what each scored on each shape
merging_parts.py  one source taken apart for merging
merging_rule.py   which part runs for which arguments
composer/         kernels from a traced reference, without a model
"""

"""Room 3, verify: whether a candidate may go on, and whether a task may judge one.

ladder.py      climb: the rungs in order, up to the first that refutes
source.py      rung: is it a source at all
seal.py        rung: does it compile, is its host code a pure plan, would the driver launch it
emulate.py     rung: is it right on the CPU, under the eyes of the emulator
opinion.py     rung: what language models think of what the others left open; it decides nothing
opinion_panel.py    who is asked, with which instruction, and how far each was right
opinion_answers.py  what a verifier is asked, and its answer as plain data
opinion_votes.py    what votes weigh together
opinion_tuning.py   better instructions for the panel, measured on kernels it has not seen
prompts        the instructions, and the panel's records
library.py     operations of torch within an emulated call
mutants.py     correct kernels with one planted bug, to measure verifiers with
mutations.py   where each kind of bug can be planted
survey.py      how many planted bugs the emulator finds
evaluation.py  verdicts against a labelled set
admission.py   whether a task refutes what is wrong and accepts what is right
"""

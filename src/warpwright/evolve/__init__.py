"""The room evolve: decides what a search does next. Pure functions of a run's records; no I/O, no compilation, no
waiting.

fold.py     folds records into a Snapshot
work.py     lists unfinished work of the last decision
decide.py   makes the next decision: breed, evaluate, reflect or stop, with its reason
policy.py   every parameter of a search
inputs.py   inputs of a decision besides the records
turn.py     the state that the steps of one decision share, and the briefs they write
ledger.py   computes the remaining budget
seeds.py    derives random seeds from the run's seed
selection/  selects parents, hints, models and settings
steps/      the steps of a decision, in order
"""

"""Room 3, evolve: who breeds next. Pure functions of a run's records; nothing here calls, compiles or waits.

fold.py         records to Snapshot
work.py         what a run still owes to its last decision
decide.py       the next decision: breed, evaluate, reflect or stop, and why
policy.py       every number and switch
given.py        what a decision may know besides the records
turn.py         one turn: what its steps look at, and the briefs they write
population.py   who is right, how good, and whose variant it is
opening.py      step: the first right candidate
repair.py       step: refuted candidates that are worth another look
queue.py        step: who is evaluated first
tuning.py       step: constants of a structural win
reflecting.py   step: the scratchpad
breeding.py     step: the next generation by language models
composing.py    step: the next generation by the composer
parents.py      adaptive sampling of parents
context.py      what a writer is shown besides the parents
hints.py        which hint a writer gets
bandit.py       which model is asked, and how hard it shall think
specialise.py   kernels that win on different shapes, to be merged
genomes.py      neighbours and mixtures of genomes
novelty.py      whether a source was seen before
traits.py       four axes, 0 to 3, and why
ledger.py       what may still be spent
seeds.py        random numbers from the run's seed
"""

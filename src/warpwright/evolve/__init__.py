"""Room 3, evolve: who breeds next. Pure functions of a run's records; nothing here calls, compiles or waits.

fold.py     records to Snapshot
work.py     what a run still owes to its last decision
decide.py   the next decision: breed, evaluate, reflect or stop, and why
policy.py   every number and switch
given.py    what a decision may know besides the records
turn.py     one turn: what its steps look at, and the briefs they write
ledger.py   what may still be spent
seeds.py    random numbers from the run's seed
selection/  Who breeds
steps/      The steps of a decision, in order
"""

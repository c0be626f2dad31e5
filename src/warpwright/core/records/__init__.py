"""What was learnt, as records.

evidence.py     what was learnt: Verdict, Evidence, Dossier; and Fault, which is never a verdict
rungs.py        the names of the rungs
measurement.py  what was timed: Measurement with raw samples, discards and the Scene
judged.py       what is asked of a judge and what it says: the records that travel to a GPU machine and back
search.py       what a search does, as records: Run, Brief, Decision, Call, Proposal, Score; and their Snapshot
"""

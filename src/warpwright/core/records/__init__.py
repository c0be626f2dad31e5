"""Records: what verification, measurement and search found out.

evidence.py     Verdict, Evidence, Dossier; and Fault, which is never a verdict
rungs.py        the names of the rungs
measurement.py  Measurement with raw samples, discards and the Scene
judged.py       Job and Judged, the records that travel to a GPU machine and back
search.py       records of a search: Run, Brief, Decision, Call, Proposal, Score; and their Snapshot
"""

"""Room 3, records to numbers: pure functions of what was stored.

standings.py   how a judged candidate stands against its rivals and against physics
bottleneck.py  what holds a candidate back, in one sentence
suite.py       a whole suite against every baseline
scoring.py     one number for a right candidate
scores.py      scores and costs, in words
verdicts.py    verdicts, in words
funnel.py      what became of the proposals of a run, and who is the best
page.py        searches as a self-contained page
comparison.py  a measured kernel beside its baselines and the physical limit, as a table and as a picture
charts.py      small charts as SVG
"""

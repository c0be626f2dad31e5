"""The room report: figures and text computed from records, by pure functions.

standings.py   a candidate against its baselines and the physical limit, case by case
bottleneck.py  what limits a candidate, in one sentence
suite.py       a whole suite against every baseline
benchmark/     benchmarks of many problems, in figures, files and pages
scoring.py     one number for a correct candidate
scores.py      scores and costs, in words
verdicts.py    verdicts, in words
funnel.py      the fates of a run's proposals, and its best candidate
page.py        searches as a self-contained page
overview.py    the head of a page: its parts with verdict, result and evidence
source.py      a kernel's source on a page
comparison.py  a measured kernel beside its baselines and the physical limit, as a table and as a picture
charts.py      small charts as SVG
"""

"""Searches and their records.

optimize.py    `warpwright optimize`, `translate`, `repair` and `tune`
options.py     options of a search
beforehand.py  checks for mistakes before slow imports
searching.py   prints a search and its result
live.py        shows the progress of a search
runs.py        `warpwright runs list|show|export|import`
history.py     prints the decisions of a run
prices.py      `warpwright prices`
archive.py     `warpwright archive export`
report.py      `warpwright report`
"""

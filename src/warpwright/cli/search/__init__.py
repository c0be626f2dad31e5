"""Searches and their records.

optimize.py    `warpwright optimize`, `translate`, `repair` and `tune`
options.py     what can be said of a search on the command line
beforehand.py  mistakes that can be named before anything slow begins
searching.py   a search on a screen
live.py        a search as it goes
runs.py        `warpwright runs list|show|export|import`
history.py
prices.py      `warpwright prices`
archive.py     `warpwright archive export`
report.py      `warpwright report`
"""

"""Searches and their records.

settings.py  what a caller asks of a search
costs.py     what a search can take at most, before anything is spent
optimize.py  a search begun, driven, resumed
tune.py      settings of one kernel
reports.py   runs that were recorded, and pages on them
chapters.py  what a page says of one search
"""

"""Reads the answers of models.

reply.py   extracts code from an answer
edits.py   applies SEARCH/REPLACE edits to a parent
asking.py  records the calls of a model
"""

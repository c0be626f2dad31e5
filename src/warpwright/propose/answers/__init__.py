"""Answers of models.

reply.py   code from an answer
edits.py   SEARCH/REPLACE edits against a parent
asking.py  a model whose calls are noted
"""

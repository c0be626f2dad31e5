"""Verifiers measured on labelled kernels.

corpus.py      labelled faults made from right kernels
answers.py     what every verifier says of every kernel
tables.py      these answers as a table, as data and as a page
evaluation.py  accuracy of the ladder, of one rung or of opinions, and the instructions of the opinion rung
"""

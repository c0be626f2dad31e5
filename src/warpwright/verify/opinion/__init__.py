"""Rung: opinions of language models.

rung.py     the opinion rung; it decides nothing
panel.py    the verifiers, their instructions and their records
answers.py  the question to a verifier, and its answer as plain data
votes.py    the combined weight of votes
tuning.py   improves the instructions, measured on held-out kernels
prompts/    the instructions, and the verifiers' records
"""

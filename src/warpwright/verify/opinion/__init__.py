"""Rung: what language models think.

rung.py     rung: what language models think of what the others left open; it decides nothing
panel.py    who is asked, with which instruction, and how far each was right
answers.py  what a verifier is asked, and its answer as plain data
votes.py    what votes weigh together
tuning.py   better instructions for the panel, measured on kernels it has not seen
prompts/    the instructions, and the panel's records
"""

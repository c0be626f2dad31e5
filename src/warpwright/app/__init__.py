"""The room app: what every face calls. Decisions that a user could make are made here; faces parse and render.

given.py      tasks and kernels in every form in which a caller gives them
progress.py   what long work reports on its way
notebook.py   results as HTML
tasks.py      tasks listed, loaded and admitted
aio.py        the functions for programs with an event loop
kernels/      kernels checked, sealed and timed
compose.py    kernels written by rule
verifiers/    what rungs are worth, and the faults that tell
searches/     searches and their records
doctor.py     what this machine has
"""

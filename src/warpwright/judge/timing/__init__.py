"""How long a candidate takes, beside its baselines.

cuda_timer.py       device time of captured work, cold or warm
timed_candidate.py  a candidate in its process, timed and checked
interleaving.py     candidate and baselines take turns
case_timing.py      one case: candidate and baselines prepared, interleaved, validated
validity.py         whether a measured time is valid
stopping.py         when enough samples have been taken
inference.py        medians, speed-ups and their intervals
nvml.py             clocks of the card, and throttling
"""

"""How long a candidate takes.

cuda_timer.py    device time of captured work, cold or warm
stopping.py      when enough samples have been taken
inference.py     what samples allow one to say
nvml.py          clocks of the card, and what holds them down
case_timing.py
interleaving.py  subjects take turns at being timed
validity.py      whether its time is one: does a call remember, or work for others?
"""

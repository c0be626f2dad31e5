"""The steps of a decision, in order.

opening.py     step: the first right candidate
repair.py      step: refuted candidates that are worth another look
queue.py       step: who is evaluated first
tuning.py      step: constants of a structural win
reflecting.py  step: the scratchpad
breeding.py    step: the next generation by language models
composing.py   step: the next generation by the composer
"""

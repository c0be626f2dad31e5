"""Recorded requests and answers.

recording.py   records every request with its answer
replay.py      answers from a recording
remembered.py  answers from earlier sessions of the same run
"""

"""Questions and answers on file.

recording.py   writes down every question with its answer
replay.py      answers from such a recording
remembered.py  answers of an earlier session of the same run
"""

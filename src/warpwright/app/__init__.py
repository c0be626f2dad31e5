"""Room 7, app: what every face calls.

doctor.py
"""

"""v0001_first.py   runs, candidates, briefs and records"""

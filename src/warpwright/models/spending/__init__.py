"""Prices and budgets.

limits.py  how many calls at once and per minute, and a budget that cannot be passed
prices.py  dollars per token, with their source; an unknown price is None
"""

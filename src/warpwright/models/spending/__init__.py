"""Prices and budgets.

limits.py  limits on concurrent calls, calls per minute, and dollars
prices.py  dollars per token, with their source; an unknown price is None
"""

"""Launch plans and sealed candidates.

plan.py        Plan and its nodes: what host code did in one call
operations.py  the torch operations that a plan may name
sealed.py      Sealed: device code and launch plans, without host code
"""

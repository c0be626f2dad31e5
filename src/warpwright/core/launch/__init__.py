"""Launch plans and sealed candidates.

plan.py        what a candidate's host code did: Plan and its nodes
operations.py  the operations of torch that a plan may name
sealed.py      a sealed candidate: device code and launch plans, without its host code
"""

"""Providers' servers.

provider.py  one attempt at a provider's server; the only file that knows the client library
failures.py  attempts that came to nothing: why, when to come back, and what they cost
retries.py   attempts again, as long as waiting can help
"""

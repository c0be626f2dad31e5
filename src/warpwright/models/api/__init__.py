"""Providers' servers.

provider.py  one request to a provider's server; the only file that imports the client library
failures.py  failed attempts: the reason, when to retry, and the cost
retries.py   retries while a retry can help
"""

"""The face mcp: tools for agents, over the Model Context Protocol.

server.py    the server: which tools and resources there are
kernels.py   tools that check, time and compose kernels
searches.py  tools that start, watch and stop searches
answers.py   results and errors as a client sees them
SKILL.md     instructions for an agent that uses the tools
"""

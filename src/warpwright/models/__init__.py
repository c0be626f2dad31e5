"""The room models: language models behind one Protocol of core. Importing it loads no client library.

named.py     `model_named`: models by a spec such as "anthropic:NAME", and the Terms of their use
spec.py      parses a spec
command.py   a program that reads a prompt and prints an answer
mailbox.py   a folder in which people or other programs answer
scripted.py  answers from a script, for tests and demonstrations
lines.py     reads files of JSON lines into records
clock.py     a clock that tests can replace
api/         providers' servers
recordings/  recorded requests and answers
spending/    prices and budgets
"""

from warpwright.models.named import Terms, model_named
from warpwright.models.recordings.recording import Recorded
from warpwright.models.spending.limits import Budget, Limited, Metered
from warpwright.models.spending.prices import Prices, load_prices

__all__ = ["Budget", "Limited", "Metered", "Prices", "Recorded", "Terms", "load_prices", "model_named"]

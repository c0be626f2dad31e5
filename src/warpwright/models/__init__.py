"""Room 2, language models behind one Protocol of core. Importing it loads no client library.

named.py     what a spec such as "anthropic:NAME" stands for: `model_named`, and the Terms it is used on
spec.py      the words of a spec, parsed
command.py   a program that reads a prompt and prints an answer
mailbox.py   a folder in which people or other programs answer
scripted.py  answers from a script, for tests and demonstrations
lines.py     files of JSON lines, read into records
clock.py     time, as something that can be handed over
api/         Providers' servers
recordings/  Questions and answers on file
spending/    Prices and budgets
"""

from warpwright.models.named import Terms, model_named
from warpwright.models.recordings.recording import Recorded
from warpwright.models.spending.limits import Budget, Limited, Metered
from warpwright.models.spending.prices import Prices, load_prices

__all__ = ["Budget", "Limited", "Metered", "Prices", "Recorded", "Terms", "load_prices", "model_named"]

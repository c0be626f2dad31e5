"""Room 2, language models behind one Protocol of core. Importing it loads no client library.

named.py       what a spec such as "anthropic:NAME" stands for: `model_named`, and the Terms it is used on
spec.py        the words of a spec, parsed
provider.py    one attempt at a provider's server; the only file that knows the client library
failures.py    attempts that came to nothing: why, when to come back, and what they cost
retries.py     attempts again, as long as waiting can help
limits.py      how many calls at once and per minute, and a budget that cannot be passed
prices.py      dollars per token, with their source; an unknown price is None
command.py     a program that reads a prompt and prints an answer
mailbox.py     a folder in which people or other programs answer
recording.py   writes down every question with its answer
replay.py      answers from such a recording
remembered.py  answers of an earlier sitting of the same run
scripted.py    answers from a script, for tests and demonstrations
lines.py       files of JSON lines, read into records
clock.py       time, as something that can be handed over
"""

from warpwright.models.limits import Budget, Limited, Metered
from warpwright.models.named import Terms, model_named
from warpwright.models.prices import Prices, load_prices
from warpwright.models.recording import Recorded

__all__ = ["Budget", "Limited", "Metered", "Prices", "Recorded", "Terms", "load_prices", "model_named"]

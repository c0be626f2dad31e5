"""The room compose: writes CUDA sources from the traced function, without a language model.

plan.py     `plan(task)` returns a Composable: its search space, its default config, its sources
entries.py  entry points: traced, lowered, rewritten and scheduled
survey.py   plans many tasks at once
errors.py   the exceptions of the composer
configs.py  configs: values of knobs, stored in the source's head
code/       C++ statements and the names that they read
cuda/       C++ text
frontend/   lowers a PyTorch function to a graph of values
ir/         Values, sizes and indices
kernels/    writes kernels, by kind
passes/     rewrites the graph
schedule/   groups values into kernels
"""

from warpwright.compose.configs import read_back
from warpwright.compose.errors import CannotCompose
from warpwright.compose.plan import Composable, plan

__all__ = ["CannotCompose", "Composable", "plan", "read_back"]

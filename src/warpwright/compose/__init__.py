"""Room 3, compose: CUDA sources written from the traced function, without a language model.

plan.py     `plan(task)` gives a Composable: its genome space, its default, its sources
entries.py  entry points: traced, lowered, rewritten and scheduled
survey.py   the same for many tasks at once
errors.py   what it says where it gives up
configs.py  the choices a kernel leaves open, and how a source remembers them
code/       Statements of C++ that know what they read
cuda/       C++ text
frontend/   From a PyTorch function to a graph of values
ir/         Values, sizes and indices
kernels/    Kernels, by kind
passes/     Rewrites of the graph
schedule/   Which kernel computes what
"""

from warpwright.compose.configs import read_back
from warpwright.compose.errors import CannotCompose
from warpwright.compose.plan import Composable, plan

__all__ = ["CannotCompose", "Composable", "plan", "read_back"]

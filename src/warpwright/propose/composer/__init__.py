"""The composer: CUDA sources written from the traced function, without a language model.

plan.py             `plan(task)` gives a Composable: its genome space, its default, its sources
survey.py           the same for many tasks at once
errors.py           what it says where it gives up
trace.py            the function as a graph of ATen operations over named sizes
written_out.py      functions of torch that would take a size for a number
given_names.py      names that the reference gives
naming.py           names that C++ and our kernels leave free, and words for what has none
wording.py          what values are called: by these names, or in words for what they are
sizes.py            sizes: formulas, compared by what they are worth in every case
values.py           what a function computes, as a graph of values, each made once
lower.py            ATen operations become values
lower_pointwise.py  element by element
lower_shape.py      views, selections, reductions
lower_library.py    products, convolutions, scans, updates in place
lower_norm.py       normalisation over a batch
lower_pick.py       windows, selections, scatters
entries.py          the entry points: what each is given, what it owes
single_row.py       entry points for products with a single row, images with a single channel, single samples
training.py         training pairs: what a forward pass leaves for its backward pass
rewrite.py          sums over long rows, written so that these are read less often
schedule.py         which values are left in memory, and which kernel leaves them there
indices.py          where an element lies, and how that moves within a pack
arithmetic.py       how each operation is written in CUDA C++
tensors.py          what kernels are given: tensors, numbers, sizes
emit.py             values become statements of one kernel
kernel.py           what every kind of kernel has in common
map_kernel.py       element by element
side_by_side.py     the same for several counts at once
reductions.py       which reductions over a row share a pass
carriers.py         what a thread carries along a row for each of them
row_kernel.py       rows: the statements of one row
row_launch.py       rows: the kernels around them, and the choice among these
split_kernel.py     few long rows: many blocks to a row
keeping.py          rows kept in registers and shared memory
resident_kernel.py  long rows that one block keeps in both, one after the other
cluster_kernel.py   long rows that a cluster of blocks keeps
grid_kernel.py      few rows that all blocks together keep
across_kernel.py    many long rows times the same row, several to a block
column_kernel.py    columns: sums over the leading dimensions
fused_kernel.py     rows and columns at once
product_kernel.py   products of small matrices, along the rows of both
tile_kernel.py      products of small matrices that share their first factor
first_factor.py     how that is read, or computed where it is read
shared_factor.py    which products share it, and what is left beside them
product_steps.py    the steps that are small products
scan_kernel.py      running sums
scan_pieces.py      running sums along few long rows, piece after piece
window_kernel.py    windows that slide over an image
quad_kernel.py      windows of two by two
pick_kernel.py      the highest of each row
scatter_kernel.py   elements and rows to places of their own
list_kernel.py      lists of tensors, many to a launch
library.py          library calls, and tensors as views of others
preamble.py         device functions that kernels share
spreads.py          those for means and spreads
overlap.py          kernels that follow each other without a pause
steps.py            each group of the schedule becomes kernels or a call
host.py             the host side of an entry point
wrapping.py         long lines, broken
program.py          a whole source
genomes.py          the choices a kernel leaves open, and how a source remembers them
"""

from warpwright.propose.composer.errors import CannotCompose
from warpwright.propose.composer.genomes import read_back
from warpwright.propose.composer.plan import Composable, plan

__all__ = ["CannotCompose", "Composable", "plan", "read_back"]

"""Reductions over rows.

row.py          rows: the statements of one row
reads.py        rows: the tensors that each pass reads
work.py         rows: reductions and stores of a group
launch.py       rows: the kernels around them, and the choice among these
split.py        few long rows: many blocks to a row
onchip.py       rows kept in registers and shared memory
block.py        long rows kept by persistent blocks
cluster.py      long rows kept by clusters of blocks
cooperative.py  few rows kept by all blocks of a cooperative grid
gemv.py         GEMV: many long rows times the same vector
"""

"""Reductions over rows.

row.py          the statements of one row
reads.py        the tensors that each pass reads
launch.py       the kernels around them, and the selection among these
split.py        few long rows: many blocks per row
onchip.py       rows kept in registers and shared memory
block.py        long rows kept by persistent blocks
cluster.py      long rows kept by clusters of blocks
cooperative.py  few rows kept by all blocks of a cooperative grid
gemv.py         GEMV: many long rows times the same vector
"""

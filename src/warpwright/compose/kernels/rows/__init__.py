"""Reductions over rows.

row.py          rows: the statements of one row
reads.py        rows: the tensors that each pass reads
launch.py       rows: the kernels around them, and the choice among these
split.py        few long rows: many blocks to a row
onchip.py       rows kept in registers and shared memory
block.py        long rows that one block keeps in both, one after the other
cluster.py      long rows that a cluster of blocks keeps
cooperative.py  few rows that all blocks together keep
gemv.py         many long rows times the same row, several to a block
"""

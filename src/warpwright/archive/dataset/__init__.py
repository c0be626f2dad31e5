"""The dataset that an archive exports.

columns.py  the columns of the dataset and their types
rows.py     one row per proposal, with all that became of it
export.py   the dataset as JSON lines or Parquet
"""

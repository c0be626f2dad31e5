"""The dataset that an archive exports.

columns.py  the columns of the dataset and their types
rows.py     one row per proposal with everything recorded about it
export.py   the dataset as JSON lines or Parquet
"""

"""`python -m warpwright.seal`: makes our precompiled headers now, so that the first kernel need not wait for them."""

import sys

from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture import is_prebuilt, prebuilt

store = Store(root=default_root())
if not is_prebuilt(store):
    sys.stdout.write("preparing headers, once\n")
    sys.stdout.flush()
    prebuilt(store)

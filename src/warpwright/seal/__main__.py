"""`python -m warpwright.seal`: precompiles our headers for both compilers, so that the first kernel does not wait."""

import sys

from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture.program import is_prebuilt, prebuilt
from warpwright.seal.device import nvcc as device

store = Store(root=default_root())
if not (is_prebuilt(store) and device.is_prepared(store)):
    sys.stdout.write("preparing headers, once\n")
    sys.stdout.flush()
    prebuilt(store)
    device.prepare(store)

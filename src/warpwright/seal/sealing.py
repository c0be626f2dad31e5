"""Sealing: one candidate's source becomes device code and a launch plan for every case, with no GPU in sight.

seal()        one candidate, from the cache where it is there
seal_many()   several on all cores
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from warpwright import __version__
from warpwright.core.candidate import Candidate
from warpwright.core.codec import content_id
from warpwright.core.gpus import gpu_named
from warpwright.core.plan import Kernel, Plan
from warpwright.core.sealed import Manifest, Sealed
from warpwright.core.signature import arguments
from warpwright.core.task import Case, Direction, Task
from warpwright.seal import artefact, capture, sandbox, toolchain
from warpwright.seal.binding import Binding, bind
from warpwright.seal.cache import Store, default_root
from warpwright.seal.capture import Program
from warpwright.seal.device import DeviceCode, compile_device
from warpwright.seal.device import arguments as compiler_arguments
from warpwright.seal.expectations import check_launches, check_returns
from warpwright.seal.observe import Call, Observer
from warpwright.seal.plans import make_plan
from warpwright.seal.refusal import Refusal, Refused, refuted

MOST_SOURCE_BYTES = 4 << 20

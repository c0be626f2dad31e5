"""Hidden cases: drawn from a task's declared ranges with a secret seed, so that no kernel can be written for them."""

from __future__ import annotations

import math
import random

from warpwright.core.task import Case, Range, Role, ScalarArg, Task


def hidden_cases(task: Task, secret: int, count: int) -> tuple[Case, ...]:
    """Draws `count` cases, a pure function of the task and the secret; none if no range of sizes is requested."""
    if not task.ranges or not task.is_general:
        return ()
    generator = random.Random(f"{task.key}:{secret}")
    return tuple(_draw(task, generator, number) for number in range(count))


def _draw(task: Task, generator: random.Random, number: int) -> Case:
    dims = {name: _size(limits, generator) for name, limits in sorted(task.ranges.items())}
    scalars = {arg.name: generator.choice(arg.values) for arg in task.arguments if isinstance(arg, ScalarArg)}
    dtype = generator.choice(task.dtypes)
    return Case(name=f"hidden{number}-{dtype}", role=Role.HIDDEN, dims=dims, dtype=dtype, scalars=scalars)


def _size(limits: Range, generator: random.Random) -> int:
    """Draws a size, uniform in its logarithm, so that both small and large sizes occur."""
    if limits.choices:
        return generator.choice(limits.choices)
    value = round(math.exp(generator.uniform(math.log(limits.low), math.log(limits.high))))
    rounded = value - value % limits.multiple
    return min(max(rounded, limits.low), limits.high)

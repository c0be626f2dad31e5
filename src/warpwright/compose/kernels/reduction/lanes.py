"""Accumulators of strided reductions: each lane of a pack reduces a row of its own.

The threads of a column of the block take rows of the loop in turn; their accumulators are combined through shared
memory at the end of a pass, so that every thread has the results of its lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from warpwright.compose.code.definitions import Item, verbatim
from warpwright.compose.code.statements import FULLY, Assign, Do, Form, If, Let, Loop, Statement
from warpwright.compose.code.text import Code, code
from warpwright.compose.cuda.arithmetic import ATOM, DEFINED, PRODUCT, Term
from warpwright.compose.cuda.emit import Emitter
from warpwright.compose.cuda.joins import BEST, JOIN_NAMES, JOINS, NEIGHBOURS
from warpwright.compose.ir.indices import ELEMENT
from warpwright.compose.ir.operations import Op
from warpwright.compose.ir.values import Value
from warpwright.compose.kernels.reduction.passes import Carried, OnlineSoftmax, Variance
from warpwright.compose.kernels.reduction.welford import WELFORD

ACROSS_WARPS = verbatim(
    """\
// Combines the accumulators of a block's warps lane by lane; every warp gets the result.
template <typename Op, int WARPS, int VEC, typename State>
__device__ void reduce_across_warps(State (&state)[VEC]) {
    __shared__ State of_warp[WARPS][VEC][32];
    __syncthreads();  // A previous call may still be reading.
    for (int k = 0; k < VEC; ++k) of_warp[threadIdx.y][k][threadIdx.x] = state[k];
    __syncthreads();
    for (int k = 0; k < VEC; ++k) {
        state[k] = of_warp[0][k][threadIdx.x];
        for (int warp = 1; warp < WARPS; ++warp) state[k] = Op::join(state[k], of_warp[warp][k][threadIdx.x]);
    }
}"""
)

JOIN_BEST = verbatim(
    """\
struct BestOf {
    static __device__ Best join(Best a, Best b) { return better(a, b); }
};"""
)

JOIN_SCORES = verbatim(
    """\
// Online softmax: a maximum, and the sum of exponentials relative to it.
struct Scores {
    float largest, total;
};

struct OnlineSoftmax {
    static __device__ Scores join(Scores a, Scores b) {
        const float largest = fmaxf(a.largest, b.largest), base = finite_or_zero(largest);
        return Scores{largest, a.total * expf(a.largest - base) + b.total * expf(b.largest - base)};
    }
};"""
)

JOIN_WELFORD = verbatim(
    """\
struct Statistics {
    static __device__ Welford join(Welford a, Welford b) { return merge(a, b); }
};"""
)


@dataclass(slots=True)
class LanePass:
    """The statements of one pass over the rows of a strip."""

    before: list[Statement] = field(default_factory=list)
    packs: list[Statement] = field(default_factory=list)
    elements: list[Statement] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)


class Lanes(Protocol):
    """The accumulators of one reduction, or of two fused ones: one for each lane of a pack."""

    @property
    def preamble(self) -> Sequence[Item]: ...

    @property
    def operand(self) -> Value: ...

    def add(self, term: Term, done: LanePass) -> None: ...

    def results(self) -> dict[int, Term]: ...


def lanes(item: Carried, emitter: Emitter) -> Lanes:
    if isinstance(item, OnlineSoftmax):
        return _Scores(item, emitter)
    if isinstance(item, Variance):
        return _Statistics(item, emitter)
    return _Best(item, emitter) if item.op in (Op.ARGMAX, Op.ARGMIN) else _Plain(item, emitter)


def _each(*statements: Statement) -> Loop:
    form = Form.BRACES if statements[1:] else Form.BESIDE
    return Loop(code("int k = 0; k < {VEC}; ++k"), statements, FULLY, form=form)


def _combined(operation: str, name: str) -> Statement:
    return Do(code("reduce_across_warps<{operation}, WARPS>({name})", operation=operation, name=name))


def _result(template: str, name: str, binding: int = ATOM) -> Term:
    return Term(code(template, name=name), binding, ELEMENT, is_free=True)


class _Plain:
    """A sum, a product or an extreme."""

    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name, self.op = emitter.name(emitter.called(value, ELEMENT)), JOIN_NAMES[value.op]
        self.preamble = (JOINS[value.op], ACROSS_WARPS)

    def add(self, term: Term, done: LanePass) -> None:
        lane = code("{name}[k]", name=self.name)
        joined = code("{op}::join({lane}, {x})", op=self.op, lane=lane, x=term.code)
        if self.value.op is Op.SUM:
            done.before.append(Let("float", self.name, "{}", extent="VEC"))
            done.elements.append(Assign(lane, term.code, "+="))
        else:
            begun = _each(Assign(lane, code("{op}::identity()", op=self.op)))
            done.before += [Let("float", self.name, extent="VEC"), begun]
            done.elements.append(Assign(lane, joined))
        done.after.append(_combined(self.op, self.name))

    def results(self) -> dict[int, Term]:
        return {self.value.number: _result("{name}[k]", self.name)}


class _Best:
    """The position of an extreme."""

    def __init__(self, value: Value, emitter: Emitter) -> None:
        self.value, self.operand = value, value.first
        self.name, self.sign = emitter.name("best"), "-" if value.op is Op.ARGMIN else ""
        self.preamble = (NEIGHBOURS, BEST, JOIN_BEST, ACROSS_WARPS)

    def add(self, term: Term, done: LanePass) -> None:
        lane = code("{name}[k]", name=self.name)
        found = code("Best{{{sign}{x}, static_cast<int>(row)}}", sign=self.sign, x=term.within(ATOM))
        done.before += [Let("Best", self.name, extent="VEC"), _each(Assign(lane, code("{{-INFINITY, {INT_MAX}}}")))]
        done.elements.append(Assign(lane, code("better({lane}, {found})", lane=lane, found=found)))
        done.after.append(_combined("BestOf", self.name))

    def results(self) -> dict[int, Term]:
        return {self.value.number: _result("{name}[k].at", self.name)}


class _Scores:
    """Online softmax: a running maximum, and the sum of exponentials relative to it."""

    def __init__(self, joint: OnlineSoftmax, emitter: Emitter) -> None:
        self.joint, self.operand = joint, joint.largest.first
        self.name = emitter.name("scores")
        self.score = emitter.name("score")
        self.preamble = (DEFINED[Op.FINITE], JOIN_SCORES, ACROSS_WARPS)

    def _code(self, template: str, **given: Code) -> Code:
        return code(template, lane=f"{self.name}[k]", score=self.score, **given)

    def add(self, term: Term, done: LanePass) -> None:
        largest, total = self._code("{lane}.largest"), self._code("{lane}.total")
        done.before += [
            Let("Scores", self.name, extent="VEC"),
            _each(Assign(self._code("{lane}"), code("{{-INFINITY, 0.0f}}"))),
        ]
        rescaled = Assign(total, self._code("{expf}({lane}.largest - {score})"), "*=")
        done.elements += [
            Let("const float", self.score, term.code),
            If(self._code("{score} > {lane}.largest"), (rescaled, Assign(largest, self.score))),
            Assign(total, self._code("{expf}({score} - finite_or_zero({lane}.largest))"), "+="),
        ]
        lost = Assign(largest, "NAN", comment="fmaxf drops NaN; the sum has kept it.")
        settled: list[Statement] = [If(self._code("isnan({lane}.total)"), (lost,), form=Form.BESIDE)]
        if not self.joint.guarded:
            lost = Assign(total, "NAN", comment="inf - inf is NaN, as in torch.")
            settled.append(If(self._code("isinf({lane}.largest)"), (lost,), form=Form.BESIDE))
        done.after += [_combined("OnlineSoftmax", self.name), _each(*settled)]

    def results(self) -> dict[int, Term]:
        return {
            self.joint.largest.number: _result("{name}[k].largest", self.name),
            self.joint.total.number: _result("{name}[k].total", self.name),
        }


class _Statistics:
    """Welford: the mean, and the sum of squared differences from it; all lanes count alike."""

    def __init__(self, spread: Variance, emitter: Emitter) -> None:
        self.spread, self.operand = spread, spread.total.first
        self.name, self.count = emitter.name("statistics"), emitter.name("counted")
        self.delta, self.share = emitter.name("delta"), emitter.name("share_of_row")
        self.preamble = (NEIGHBOURS, WELFORD, JOIN_WELFORD, ACROSS_WARPS)

    def _code(self, template: str, **given: Code) -> Code:
        own = {"lane": f"{self.name}[k]", "count": self.count, "delta": self.delta, "share": self.share}
        return code(template, **own, **given)

    def add(self, term: Term, done: LanePass) -> None:
        done.before += [
            Let("Welford", self.name, extent="VEC"),
            _each(Assign(self._code("{lane}"), "{}")),
            Let("float", self.count, "0.0f"),
        ]
        done.packs += [
            Assign(self.count, "1.0f", "+="),
            Let("const float", self.share, self._code("1.0f / {count}")),
        ]
        x = term.within(PRODUCT)
        done.elements += [
            Let("const float", self.delta, self._code("{x} - {lane}.mean", x=x)),
            Assign(self._code("{lane}.mean"), self._code("{delta} * {share}"), "+="),
            Assign(self._code("{lane}.m2"), self._code("{delta} * ({x} - {lane}.mean)", x=x), "+="),
        ]
        counted = _each(Assign(self._code("{lane}.count"), self.count))
        done.after += [counted, _combined("Statistics", self.name)]

    def results(self) -> dict[int, Term]:
        return {
            self.spread.total.number: _result("{name}[k].mean * {name}[k].count", self.name, PRODUCT),
            self.spread.mean.number: _result("{name}[k].mean", self.name),
            self.spread.squares.number: _result("{name}[k].m2", self.name),
        }

"""The operations of values, and the attributes that some of them have besides their operands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from warpwright.compose.ir.sizes import Size


class Op(StrEnum):
    # Numbers that the host knows.
    CONSTANT = "constant"
    NUMBER = "number"
    COUNT = "count"
    SIZE = "size"
    # Tensors that are given, and indices.
    INPUT = "input"
    POSITION = "position"
    # Views.
    BROADCAST = "broadcast"
    RESHAPE = "reshape"
    PERMUTE = "permute"
    SLICE = "slice"
    FLIP = "flip"
    # Lookups.
    GATHER = "gather"
    ROWS_AT = "rows_at"
    # Elementwise operations.
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    POW = "pow"
    ATAN2 = "atan2"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    AND = "and"
    OR = "or"
    NOT = "not"
    WHERE = "where"
    NEG = "neg"
    ABS = "abs"
    SIGN = "sign"
    RECIPROCAL = "reciprocal"
    EXP = "exp"
    EXP2 = "exp2"
    EXPM1 = "expm1"
    LOG = "log"
    LOG2 = "log2"
    LOG1P = "log1p"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    ERF = "erf"
    TANH = "tanh"
    SIN = "sin"
    COS = "cos"
    SIGMOID = "sigmoid"
    RELU = "relu"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    FINITE = "finite"
    TO_FLOAT = "to_float"
    TO_INT = "to_int"
    TO_BOOL = "to_bool"
    NARROW = "narrow"
    # Reductions.
    SUM = "sum"
    PROD = "prod"
    AMAX = "amax"
    AMIN = "amin"
    ARGMAX = "argmax"
    ARGMIN = "argmin"
    COLUMNS = "columns"
    # Steps of their own.
    CAT = "cat"
    LIBRARY = "library"
    LISTS = "lists"
    POOL = "pool"
    PUT = "put"
    SCAN = "scan"
    SCATTER = "scatter"
    TOPK = "topk"


HOST = (Op.NUMBER, Op.COUNT, Op.CONSTANT, Op.SIZE)
REDUCTIONS = (Op.SUM, Op.PROD, Op.AMAX, Op.AMIN, Op.ARGMAX, Op.ARGMIN)
"""Over trailing dimensions."""
APART = (Op.LIBRARY, Op.SCAN, Op.TOPK, Op.POOL, Op.SCATTER, Op.LISTS, Op.CAT)
"""Operations with a separate step; other steps read the result from memory."""
OWN_KERNEL = (*REDUCTIONS, Op.COLUMNS, *APART)


@dataclass(frozen=True, slots=True)
class Constant:
    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Scalar:
    """The attributes of NUMBER and COUNT: a float or an integer argument."""

    name: str


@dataclass(frozen=True, slots=True)
class Extent:
    """The attributes of SIZE."""

    size: Size


@dataclass(frozen=True, slots=True)
class Argument:
    """The attributes of INPUT: a tensor, or any tensor of a list."""

    name: str
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """The attributes of POSITION, GATHER and CAT."""

    dim: int


@dataclass(frozen=True, slots=True)
class Permuted:
    """The attributes of PERMUTE: for each dimension of the result, the dimension of the operand."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sliced:
    """The attributes of SLICE: the start along a dimension. The length is that of the result."""

    dim: int
    start: Size


@dataclass(frozen=True, slots=True)
class Flipped:
    """The attributes of FLIP."""

    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reduced:
    """The number of reduced dimensions: the trailing ones, or the leading ones of COLUMNS."""

    dims: int


@dataclass(frozen=True, slots=True)
class Rounded:
    """The attributes of NARROW."""

    dtype: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """The attributes of SCAN, which adds or multiplies along the last dimension."""

    reverse: bool = False
    multiplies: bool = False


@dataclass(frozen=True, slots=True)
class Selected:
    """The attributes of TOPK, along the last dimension."""

    result: Literal["values", "indices"]
    largest: bool


@dataclass(frozen=True, slots=True)
class Window:
    """The attributes of POOL, with one size for each of the last dimensions."""

    mode: Literal["max", "at", "mean", "mean_inside"]
    sides: tuple[Size, ...]
    strides: tuple[Size, ...]
    padding: tuple[Size, ...]
    dilation: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Scattered:
    """The attributes of SCATTER: whether elements with the same destination are added."""

    adds: bool


class Routine(StrEnum):
    """Functions of torch that the host calls."""

    MM = "mm"
    BMM = "bmm"
    ADDMM = "addmm"
    CONVOLUTION = "convolution"
    CONVOLUTION_BACKWARD = "convolution_backward"


Option: TypeAlias = "bool | Size | tuple[Option, ...] | None"


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """The attributes of LIBRARY: the function, the dtypes of its operands, and further arguments."""

    routine: Routine
    dtypes: tuple[str, ...]
    options: tuple[Option, ...] = ()


Attributes = (
    Constant
    | Scalar
    | Extent
    | Argument
    | Axis
    | Permuted
    | Sliced
    | Flipped
    | Reduced
    | Rounded
    | Scanned
    | Selected
    | Window
    | Scattered
    | LibraryCall
)

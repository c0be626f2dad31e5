"""Inputs have the same bits everywhere: these digests hold on every machine, torch version and device."""

import hashlib
from functools import partial

import pytest
import torch

from warpwright.core.dtypes import DTYPES
from warpwright.oracle.inputs import generator
from warpwright.oracle.inputs.distributions import DISTRIBUTIONS, INITS, Source, drawn, integers

GOLDEN = {
    "normal": "15ce2c8267ed",
    "unit": "db12ccb20ccf",
    "uniform": "2e200718232e",
    "positive": "c3b5ecff79ef",
    "large_mean": "57d669039474",
    "tiny": "18e6020997e6",
    "huge": "ed5b80227b45",
    "negative": "e397f1f4b005",
    "ties": "23fa542ce9a9",
    "sorted": "54b6e61b1657",
    "constant": "669a92f0312b",
    "sparse": "c703157e3810",
    "outliers": "7f3ae6ba3f24",
    "zeros": "213e3a2ae54f",
    "special": "d8bf1eb84718",
}


def digest(tensor):
    return hashlib.sha256(tensor.cpu().contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:12]


def source(**changes):
    return Source(**{"seed": 7, "name": "x", "shape": (5, 33), "dtype": DTYPES["fp32"], **changes})


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_every_distribution_is_bit_identical_everywhere(name):
    assert digest(DISTRIBUTIONS[name](source())) == GOLDEN[name]


def test_values_do_not_depend_on_the_chunk_size(monkeypatch):
    whole = generator.random_bits(1, "x", 1000)
    monkeypatch.setattr(generator, "_CHUNK", 37)
    assert torch.equal(generator.random_bits(1, "x", 1000), whole)
    assert torch.equal(generator.random_bits(1, "x", 10), whole[:10])


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
@pytest.mark.parametrize("at_once", [1, 32, 33, 100])
def test_values_do_not_depend_on_how_many_are_drawn_at_once(name, at_once):
    whole = DISTRIBUTIONS[name](source())
    assert digest(drawn(DISTRIBUTIONS[name], source(), torch.float32, at_once)) == digest(whole)


@pytest.mark.parametrize("name", ["normal", "ties", "sorted", "constant"])
def test_integers_do_not_depend_on_how_many_are_drawn_at_once(name):
    recipe = partial(integers, below=7, distribution=name)
    assert torch.equal(drawn(recipe, source(), torch.int64, 10), recipe(source()))


def test_seeds_and_names_give_unrelated_streams():
    streams = [generator.random_bits(seed, name, 4096) for seed in (0, 1) for name in ("a", "b")]
    for i, left in enumerate(streams):
        for right in streams[:i]:
            agreeing = (left & 1) == (right & 1)
            assert abs(agreeing.double().mean() - 0.5) < 0.05


def test_bits_are_uniform_and_fill_all_thirty_two():
    bits = generator.random_bits(3, "uniform", 1 << 16)
    assert int(bits.min()) >= 0
    assert int(bits.max()) < 2**32
    for position in range(32):
        assert abs((bits >> position & 1).double().mean() - 0.5) < 0.02


def test_normal_has_the_moments_of_a_normal_variable():
    values = DISTRIBUTIONS["normal"](source(shape=(1 << 16,))).double()
    assert abs(values.mean()) < 0.02
    assert abs(values.std() - 1) < 0.02
    assert abs(values.pow(3).mean()) < 0.05


@pytest.mark.parametrize("name", sorted(INITS))
def test_no_parameter_is_an_identity_in_either_variant(name):
    for recipe in INITS[name]:
        values = recipe(source(shape=(16, 16))).flatten()
        assert values.isfinite().all()
        assert values.unique().numel() > 32
        assert not torch.equal(values, torch.ones_like(values))


@pytest.mark.parametrize("distribution", ["normal", "ties", "sorted", "constant", "zeros", "sparse"])
@pytest.mark.parametrize("below", [1, 2, 3, 7, 1000])
def test_integers_stay_in_range(distribution, below):
    values = integers(source(shape=(9, 50)), below, distribution)
    assert int(values.min()) >= 0
    assert int(values.max()) < below


def test_sorted_rows_ascend_and_constant_rows_do_not_vary():
    rows = DISTRIBUTIONS["sorted"](source()).reshape(5, 33)
    assert (rows[:, 1:] > rows[:, :-1]).all()
    assert (DISTRIBUTIONS["constant"](source()).reshape(5, 33).std(1) == 0).all()

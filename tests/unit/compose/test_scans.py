"""Running sums: which kernel takes them, and what its hand-written text must keep to."""

from __future__ import annotations

import pytest

from warpwright.compose.code.definitions import Verbatim
from warpwright.compose.code.statements import Raw, Wait


def text_of(found, name: str) -> Verbatim:
    """The template of a kernel: its statements are text, but for where it waits."""
    (item,) = [item for item in found.items if isinstance(item, Verbatim) and f" {name}(" in "\n".join(item.lines)]
    return item


def around_wait(item: Verbatim) -> tuple[str, str]:
    wait = next(place for place, part in enumerate(item.body) if isinstance(part, Wait))
    before, after = item.body[:wait], item.body[wait + 1 :]
    return tuple("".join(part.text for part in parts if isinstance(part, Raw)) for parts in (before, after))


def test_few_long_rows_are_scanned_piece_by_piece(composed) -> None:
    ((*_, pieces),) = composed("modern/cumsum:forward").shapes("scan")
    assert pieces == 256
    ((*_, more),) = composed("modern/cumsum:backward", scan_pieces=512).shapes("scan")
    assert more == 512


def test_they_can_be_scanned_in_two_kernels_too(composed) -> None:
    by_look_back, in_two = composed("modern/cumsum:forward"), composed("modern/cumsum:forward", scan_pieces=0)
    assert text_of(by_look_back, "piece_scan_kernel")
    with pytest.raises(ValueError, match="unpack"):
        text_of(in_two, "piece_scan_kernel")
    assert text_of(in_two, "piece_sums_kernel")


def test_a_piece_waits_for_no_block_that_may_not_have_started(composed) -> None:
    """A block's own number tells what to prefetch; the number of its piece is drawn from a counter."""
    guessed, scan = around_wait(text_of(composed("modern/cumsum:forward"), "piece_scan_kernel"))
    assert "blockIdx" in guessed
    assert "blockIdx" not in scan
    assert scan.count("atomicAdd(published + count, 1ull)") == 2


def test_the_next_piece_is_fetched_before_this_one_waits_for_those_before_it(composed) -> None:
    _, scan = around_wait(text_of(composed("modern/cumsum:forward"), "piece_scan_kernel"))
    assert scan.index("publish(published") < scan.index("fetch(next);") < scan.index("sum_of_published(published")


def test_what_pieces_publish_is_emptied_without_holding_up_the_scan(composed) -> None:
    clear = "\n".join(text_of(composed("modern/cumsum:forward"), "clear_published_kernel").lines)
    assert clear.index("launch_dependents") < clear.index("griddepcontrol.wait") < clear.index("= 0;")


@pytest.mark.parametrize(
    ("operation", "shape", "in_pieces"),
    [
        ("cumsum", "8,400000:fp32", True),
        ("cumsum", "4096,400000:fp32", False),
        ("cumsum", "8,4000:fp32", False),
        ("cumprod", "8,400000:fp32", False),
    ],
)
def test_only_sums_of_few_long_rows_are(function_of, operation: str, shape: str, in_pieces: bool) -> None:
    ((*_, pieces),) = function_of("x", f"return x.{operation}(-1)", shape).shapes("scan")
    assert bool(pieces) is in_pieces


def test_a_scan_that_is_one_of_several_parts_is_copied_to_its_place(function_of) -> None:
    body = "return torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], dim=1)), dim=1)"
    host = function_of("x", body, "64,32:fp32").function("forward")
    scanned, copied = host.calls("launch_f_scan"), host.reads("scan", "y")
    assert max(scanned) < min(copied)

"""Output of NVIDIA's tools parsed to data, and the sentence made of it."""

import pytest

from warpwright.judge.watching import DRAM, SM, TIME, WARPS, _table, first_report
from warpwright.report.bottleneck import by_profiler

PRINTED = f'''==PROF== Connected to process 12
==PROF== Disconnected
"ID","Process ID","Kernel Name","{TIME}","{DRAM}","{SM}","{WARPS}"
"","","","ns","%","%","%"
"0","12","_Z3rowPKf","1,284,000.5","91.2","12.5","88.0"
"1","12","_Z3sumPKf","16000","20.1","31.0","25.0"
'''


def test_the_raw_page_of_the_profiler_gives_a_row_for_each_kernel():
    first, second = _table(PRINTED)
    assert (first.kernel, first.time_us, first.metrics[DRAM]) == ("_Z3rowPKf", 1284.0005, 91.2)
    assert (second.kernel, second.time_us) == ("_Z3sumPKf", 16.0)


@pytest.mark.parametrize("text", ["", "==ERROR== no permission", PRINTED.partition('"0"')[0]])
def test_without_kernels_there_are_no_rows(text):
    assert _table(text) == ()


def test_the_sentence_names_the_slowest_kernel_and_its_figure():
    rows = _table(PRINTED)
    assert by_profiler(rows) == (
        f"_Z3rowPKf takes 1284.0 µs (99% of the call) and is limited by DRAM, at 91 % of its peak ({DRAM})"
    )
    assert "waits: the busiest unit, the SMs' pipelines, is at 31 %" in by_profiler(rows[1:])
    assert f"25 % of the warps an SM can hold ({WARPS})" in by_profiler(rows[1:])


@pytest.mark.parametrize(
    "words",
    [
        "Invalid __global__ write of size 4 bytes",
        "Uninitialized __global__ memory read of size 4 bytes",
        "Error: Race reported between Write access at row(float *)+0x1b0",
        "Barrier error detected. Divergent thread(s) in warp.",
    ],
)
def test_a_sanitizer_report_about_a_kernel_is_a_complaint(words):
    assert first_report(f"========= COMPUTE-SANITIZER\n========= {words}\n=========     at row+0x70\n") == words


@pytest.mark.parametrize("words", ["Host API memory access error at host access", "Program hit invalid argument (1)"])
def test_a_sanitizer_report_about_host_calls_is_no_complaint(words):
    assert first_report(f"========= COMPUTE-SANITIZER\n========= {words}\n========= ERROR SUMMARY: 1 error\n") is None

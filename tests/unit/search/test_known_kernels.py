"""Known kernels of a run, read from the archive for prompts."""

from warpwright.core.records.judged import Judged
from warpwright.core.records.measurement import COPY, Cache, Measurement, Scene
from warpwright.search.known_kernels import best_baselines


def measured(subject, *samples, case="a", cache=Cache.COLD, invalid=None):
    return Measurement(
        subject=subject,
        task="t",
        case=case,
        cache=cache,
        samples_us=samples,
        stopped_because="enough",
        invalid=invalid,
        scene=Scene(),
    )


def test_the_best_baseline_of_each_case_is_the_fastest_valid_one_with_a_cold_cache():
    judged = Judged(
        job="1",
        label="k.cu",
        task="t",
        candidate="mine",
        measurements=(
            measured("mine", 5.0),
            measured(COPY, 4.0),
            measured("eager", 30.0),
            measured("compile", 20.0),
            measured("max-autotune", 10.0, invalid="below the floor"),
            measured("eager", 1.0, cache=Cache.WARM),
            measured("eager", 7.0, case="b"),
            measured("compile", 8.0, case="b"),
            measured("compile", case="c"),
        ),
    )
    assert best_baselines(judged) == {"a": "compile", "b": "eager"}

"""Upper bounds of a search's cost, before anything is spent."""

from __future__ import annotations

from warpwright.search.settings import Settings


def most(settings: Settings) -> str:
    """The most proposals, dollars and minutes, in a sentence."""
    from warpwright.search.wiring import ceiling

    policy = settings.policy
    asked = policy.attempts + policy.generations * (policy.proposals + policy.repairs)
    if not policy.arms:
        return f"At most {asked} composed kernels; nothing is paid for." + _minutes(settings)
    known = [ceiling(arm).usd for arm in policy.arms]
    dearest = None if None in known else max(usd for usd in known if usd is not None)
    words = [f"At most {asked} proposals"]
    if policy.budget.usd is not None:
        words.append(f"${policy.budget.usd:.2f}, which is never passed")
    elif dearest is not None:
        words.append(f"${dearest * asked:.2f} if every answer is as long as it can be")
    else:
        words.append("an unknown sum: the price of a model is not known")
    return ", ".join(words) + "." + _minutes(settings)


def _minutes(settings: Settings) -> str:
    seconds = settings.policy.budget.wall_seconds
    return "" if seconds is None else f" At most {seconds / 60:g} minutes."

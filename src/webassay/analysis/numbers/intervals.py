"""An estimate as a report shows it."""

from webassay.analysis.numbers import stats
from webassay.core.report import Interval


def interval(estimate: stats.Estimate) -> Interval:
    return Interval(
        value=estimate.value, low=estimate.low, high=estimate.high, units=estimate.units, method=estimate.method
    )

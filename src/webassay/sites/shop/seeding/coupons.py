"""Five years of coupons, a dozen and a half of which work today."""

from collections import defaultdict
from datetime import date, timedelta

import apsw

from webassay.sites.rng import Stream
from webassay.sites.shop.coupons import Coupon, OrderLine
from webassay.sites.shop.seeding.words import OPENED_ONLINE, TODAY, day_between, words

COUPONS = 150
CURRENT = 18

_OCCASIONS = words(
    "SPRING; SUMMER; FALL; WINTER; HELLO; THANKS; WEEKEND; PAYDAY; HARVEST; FROST; SUNNY; RAINY; LEAP; COZY; FRESH; "
    "BRIGHT; MILLRACE; BROOK; TALLY; STALL; NEIGHBOR; FRIENDS; FAMILY; BIRTHDAY; LUCKY; EARLY; LATE; MIDWEEK; MONDAY"
)
_SHORT = {
    "Kitchen & Dining": "KITCHEN", "Home & Living": "HOME", "Electronics": "TECH", "Toys & Crafts": "PLAY",
    "Clothing & Accessories": "WEAR", "Beauty & Personal Care": "GLOW", "Grocery": "PANTRY", "Patio & Garden": "GARDEN",
    "Sports & Outdoors": "OUTDOOR", "Pet Supplies": "PETS",
}  # fmt: skip


class Coupons:
    """Those of the shop, and which of them worked on a day."""

    def __init__(self, coupons: list[Coupon]) -> None:
        self._by_month: dict[str, list[Coupon]] = defaultdict(list)
        for coupon in coupons:
            day = date.fromisoformat(coupon.starts_on)
            while day.isoformat()[:7] <= coupon.ends_on[:7]:
                self._by_month[day.isoformat()[:7]].append(coupon)
                day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)

    def working(self, day: date, lines: list[OrderLine]) -> list[Coupon]:
        today = day.isoformat()
        return [coupon for coupon in self._by_month[today[:7]] if not coupon.problem(lines, today)]


def fill_coupons(db: apsw.Connection, stream: Stream) -> Coupons:
    departments = db.execute("SELECT id, name FROM categories WHERE level = 1 ORDER BY id").fetchall()
    coupons: dict[str, Coupon] = {}
    while len(coupons) < COUPONS:
        coupon = _coupon(stream, [(int(str(number)), str(name)) for number, name in departments], len(coupons))
        coupons.setdefault(coupon.code, coupon)
    for one in coupons.values():
        db.execute(
            "INSERT INTO coupons VALUES (?, ?, ?, ?, ?, ?, ?)",
            (one.code, one.kind, one.value, one.department, one.minimum, one.starts_on, one.ends_on),
        )
    return Coupons(list(coupons.values()))


def _coupon(stream: Stream, departments: list[tuple[int, str]], number: int) -> Coupon:
    kind = stream.weighted((("percent", 6), ("amount", 4), ("shipping", 1)))
    department, name = stream.choice(departments)
    limited = kind != "shipping" and stream.chance(1, 2)
    if kind == "percent":
        value = stream.choice((5, 8, 10, 12, 15, 20, 25))
    else:
        value = stream.choice((300, 500, 750, 1000, 1500, 2000, 2500)) if kind == "amount" else 0
    # An amount off must not be more than the goods cost.
    minimum = max(stream.choice((0, 0, 2500, 4000, 5000, 7500, 10000, 15000)), 3 * value if kind == "amount" else 0)
    word = _SHORT[name] if limited and stream.chance(2, 3) else stream.choice(_OCCASIONS)
    much = "SHIP" if kind == "shipping" else value if kind == "percent" else f"{value // 100}OFF"
    first, last = _days(stream, number < CURRENT)
    return Coupon(
        f"{word}{much}", kind, value, department if limited else None, minimum // 100 * 100, first.isoformat(),
        last.isoformat(), name if limited else "",
    )  # fmt: skip


def _days(stream: Stream, current: bool) -> tuple[date, date]:
    length = timedelta(days=stream.between(10, 60))
    if current:
        last = TODAY + timedelta(days=stream.between(2, 40))
        return min(last - length, TODAY - timedelta(days=3)), last
    # Some of the others have not begun yet.
    first = day_between(stream, OPENED_ONLINE, TODAY + timedelta(days=20))
    last = first + length
    if first <= TODAY <= last:
        first, last = first - timedelta(days=90), last - timedelta(days=90)
    return first, last

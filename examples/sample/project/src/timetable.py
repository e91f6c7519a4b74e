"""The timetable: the next sailings of a route."""

from collections.abc import Iterable
from datetime import datetime

from bookings import Sailing


def next_sailings(sailings: Iterable[Sailing], route: str, now: datetime, limit: int = 5) -> list[Sailing]:
    """Return the next sailings of the route, the soonest first."""
    coming = (s for s in sailings if s.route == route and s.departs > now)
    return sorted(coming, key=lambda s: s.departs)[:limit]

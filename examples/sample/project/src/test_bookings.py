from datetime import datetime, timezone
from decimal import Decimal

import pytest

from bookings import Ledger, Sailing, SoldOut

MORNING = Sailing("Harbour–North Isle", datetime(2026, 6, 1, 7, 30, tzinfo=timezone.utc), 2, Decimal("18.50"))


def test_the_price_is_the_fare_of_each_passenger():
    assert Ledger().book(MORNING, 2).price == Decimal("37.00")


def test_a_full_sailing_is_sold_out():
    ledger = Ledger()
    ledger.book(MORNING, 2)
    with pytest.raises(SoldOut):
        ledger.book(MORNING, 1)

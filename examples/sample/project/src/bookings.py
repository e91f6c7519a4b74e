"""Bookings: who travels on which sailing, and what it costs."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


class SoldOut(Exception):
    """The sailing has fewer free places than were asked for."""


@dataclass(frozen=True)
class Sailing:
    route: str
    departs: datetime
    capacity: int
    fare: Decimal


@dataclass(frozen=True)
class Booking:
    sailing: Sailing
    passengers: int

    @property
    def price(self) -> Decimal:
        return self.sailing.fare * self.passengers


class Ledger:
    """All bookings of one season."""

    def __init__(self) -> None:
        self._bookings: list[Booking] = []

    def free_places(self, sailing: Sailing) -> int:
        taken = sum(b.passengers for b in self._bookings if b.sailing == sailing)
        return sailing.capacity - taken

    def book(self, sailing: Sailing, passengers: int) -> Booking:
        if passengers < 1:
            raise ValueError("a booking is for one passenger or more")
        if passengers > self.free_places(sailing):
            raise SoldOut(sailing.route)
        booking = Booking(sailing, passengers)
        self._bookings.append(booking)
        return booking

"""Print request rates from the first argument to the second, doubling."""

import sys

rate, last = int(sys.argv[1]), int(sys.argv[2])
while rate <= last:
    print(rate)
    rate *= 2

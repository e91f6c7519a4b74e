"""Print the amounts of money in a text as JSON lines."""

import json
import re
import sys

AMOUNT = re.compile(r"(?:EUR|€)\s*(\d{1,3}(?:[ .]\d{3})*,\d{2}|\d+\.\d{2})")

for number, line in enumerate(sys.stdin, start=1):
    for match in AMOUNT.finditer(line):
        print(json.dumps({"line": number, "amount": match.group(1), "text": line.strip()}))

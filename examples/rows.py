"""Print the fastest algorithm of each workload in a file of rows.

swapmeet run ... --out rows.csv && python3 examples/rows.py rows.csv
"""

import csv
import sys


def main() -> None:
    fastest: dict[tuple[str, str, int, str], tuple[float, str]] = {}
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            # A case that failed, or that the algorithm does not support, has no time.
            if row["status"] != "ok" or not row["time_us"]:
                continue
            # If blocks differ in size, the column `block_bytes` is empty. The workload then names the sizes.
            size = int(row["block_bytes"] or 0)
            name = f"{size} B" if row["block_bytes"] else row["workload"]
            case = (row["topology"], row["machine"], size, name)
            candidate = (float(row["time_us"]), row["algorithm"])
            fastest[case] = min(candidate, fastest.get(case, candidate))
    for (topology, machine, _, name), (time_us, algorithm) in sorted(fastest.items()):
        print(f"{topology} {machine} {name}: {algorithm} ({time_us:.1f} us)")


if __name__ == "__main__":
    main()

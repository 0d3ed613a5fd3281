"""Write `fixtures/suh-shin.json`: Y.-J. Suh, K. G. Shin, *All-to-All Personalized Communication in
Multidimensional Torus and Mesh Networks* (2001).

Every block is moved, and every directed link of every message is followed. The rules are those of
sections 3.1.2, 3.2.1, 3.2.2 and 4. If printed rules contradict each other, a move tests the
coordinate that it changes. Section 6 only says that virtual nodes are added. Here each dimension
is padded at its end, and the virtual coordinate v is hosted by the real coordinate v - 4 in a
torus and v - 2 in a mesh. If a host has two partners in a step, the step is split into parts.
Messages are taken in the order of their senders, and each is put into the first part in which it
fits.
"""

import json
import math
from collections import Counter, defaultdict
from itertools import product


def dimensions(x, ring):
    """Return the dimension and the direction in which a node sends, for each phase along rings.

    Dimensions are numbered as in the paper: the first two form planes.
    """
    n = len(x)
    if n == 2:
        turn = sum(x) % (4 if ring else 2)
        order = [0, 1] if turn % 2 == 0 else [1, 0]
        sign = -1 if turn >= 2 else 1
        return [(d, sign) for d in order]
    last = (n - 1, -1 if ring and x[-1] % 4 >= 2 else 1)
    inner = dimensions(x[:-1], ring)
    return inner + [last] if x[-1] % 2 == 0 else [last] + inner


def host(v, size, width):
    """Return the real coordinate that hosts the virtual coordinate `v`."""
    if v < size:
        return v
    if size >= width:
        return v - width
    while v >= size > 1:
        v -= 2
    return v if size > 1 else 0


def links(a, b, sign, sizes, ring):
    """Yield the directed links between two real nodes that differ in one dimension.

    In a phase along rings, `sign` is the direction. Otherwise the shorter direction is used or, if
    both are equally short, the direction within the submesh.
    """
    for d, (at, to) in enumerate(zip(a, b)):
        n, step = sizes[d], sign
        if at == to:
            continue
        if not ring or sign is None:
            step = 1 if to > at else -1
            if ring and 2 * abs(to - at) > n:
                step = -step
        while at != to:
            yield a[:d] + (at,) + a[d + 1:], d, step
            at = (at + step) % n


class Exchange:
    """A run of the algorithm on a torus or a mesh of any size."""

    def __init__(self, kind, sizes):
        self.ring, self.sizes = kind == "torus", sizes
        self.width = 4 if self.ring else 2
        self.padded = tuple(-(-n // self.width) * self.width for n in sizes)
        self.nodes = list(product(*map(range, sizes)))
        self.virtual = list(product(*map(range, self.padded)))
        self.held = {v: [] for v in self.virtual}
        for v in self.nodes:
            self.held[v] = [(v, to) for to in self.nodes]
        self.hosts = {v: tuple(map(host, v, sizes, [self.width] * len(sizes))) for v in self.virtual}
        # The number of blocks that each real node has.
        self.at = Counter({v: len(self.nodes) for v in self.nodes})
        self.steps, self.peak, self.buffered, self.block_hops = [], len(self.nodes), 0, 0

    def step(self, phase, number, moves, turns):
        """Carry out one step. For each node, `moves` returns the dimension along which the node
        sends, the change of the coordinate, and the size of the submeshes between which blocks
        move. `turns` says whether the step belongs to a phase along rings."""
        sent, arrivals = defaultdict(int), []
        route = {}
        for v in self.virtual:
            if moves(v) is None:
                continue
            d, change, unit = moves(v)
            goes = [b for b in self.held[v] if b[1][d] // unit != v[d] // unit]
            if not goes:
                continue
            self.held[v] = [b for b in self.held[v] if b[1][d] // unit == v[d] // unit]
            to = v[:d] + ((v[d] + change) % self.padded[d],) + v[d + 1:]
            arrivals.append((to, goes))
            a, b = self.hosts[v], self.hosts[to]
            if a != b:
                sent[a, b] += len(goes)
                sign = (1 if change > 0 else -1) if turns else None
                route[a, b] = list(links(a, b, sign, self.sizes, self.ring))
        for to, blocks in arrivals:
            self.held[to] += blocks
        # Split the step if a node has two partners or a link carries two messages.
        parts = []
        for (a, b), n in sorted(sent.items()):
            used = {("out", a), ("in", b), *route[a, b]}
            part = next((part for part in parts if not part["used"] & used), None)
            if part is None:
                part = {"used": set(), "sizes": [], "hops": [], "ends": []}
                parts.append(part)
            part["used"] |= used
            part["sizes"].append(n)
            part["hops"].append(len(route[a, b]))
            part["ends"].append((a, b))
            self.block_hops += n * len(route[a, b])
        for i, part in enumerate(parts, 1):
            largest, longest = max(part["sizes"]), max(part["hops"])
            self.steps.append([phase, number, i, len(part["sizes"]), largest, longest])
            # A node gives up the blocks that it sends only when the part has ended.
            for (_, b), n in zip(part["ends"], part["sizes"]):
                self.at[b] += n
            self.buffered = max(self.buffered, max(self.at.values()))
            for (a, _), n in zip(part["ends"], part["sizes"]):
                self.at[a] -= n
            self.peak = max(self.peak, max(self.at.values()))

    def run(self):
        n = len(self.padded)
        # In two dimensions the paper's first coordinate is the column.
        names = [1, 0] if n == 2 else list(range(n))
        order = {v: dimensions([v[d] for d in names], self.ring) for v in self.virtual}
        order = {v: [(names[d], sign) for d, sign in moves] for v, moves in order.items()}
        w = self.width
        for phase in range(n):
            for s in range(1, max(self.padded) // w):
                def along(v):
                    d, sign = order[v][phase]
                    return (d, sign * w, w) if s < self.padded[d] // w else None
                self.step(phase + 1, s, along, turns=True)
        if self.ring:
            for s in range(n):
                def by_two(v):
                    d, _ = order[v][s]
                    return d, 2 if v[d] % 4 < 2 else -2, 2
                self.step(n + 1, s + 1, by_two, turns=False)
        for s in range(n):
            d = names[s]
            by_one = lambda v: (d, 1 if v[d] % 2 == 0 else -1, 1)
            self.step(n + 1 + self.ring, s + 1, by_one, turns=False)
        for v in self.virtual:
            expected = [(a, v) for a in self.nodes] if v in self.nodes else []
            assert sorted(self.held[v]) == expected, (self.sizes, v)
        return self

    def values(self):
        return {
            "steps": len(self.steps),
            "blocks": sum(step[4] for step in self.steps),
            "hops": sum(step[5] for step in self.steps),
            "messages": sum(step[3] for step in self.steps),
            "block_hops": self.block_hops,
            # A step is split so that no two messages of a part share a link.
            "max_contention": 1,
            "peak_held": self.peak,
        }


def exact(kind, size):
    run = Exchange(kind, tuple(map(int, size.split("x")))).run()
    assert all(step[2] == 1 for step in run.steps), size
    return {
        **run.values(),
        "peak_with_recv_buffer": run.buffered,
        "barriers": len(run.steps) - 1,
        # There is one rearrangement between two phases (3.2.3 and 4.2).
        "rearrangements": len(run.sizes) + (kind == "torus"),
        "per_step": run.steps,
    }


def folded(kind, size):
    run = Exchange(kind, tuple(map(int, size.split("x")))).run()
    return {**run.values(), "padded_to": "x".join(map(str, run.padded))}


def table_2(kind, d):
    """Return the closed forms of Table 2 for each algorithm: the numbers of startups, blocks, hops,
    rearranged blocks and barriers."""
    s, n = 2**d, 4**d
    if kind == "torus":
        thirteen = (9 * 2 ** (3 * d) // 16) + (d * d - 5 * d + 3) * n // 2
        return {
            "[19]": (s // 2 + 2, n * s // 4 + n, (n // 2 + 10) / 3, (s // 2 + 1) * n, s // 2 + 1),
            "[13]": (3 * d - 3, thirteen, 13 * s // 4 - 3 * d - 3, thirteen, 3 * d - 4),
            "proposed": (s // 2 + 2, n * s // 4 + n, 2 * s - 2, 3 * n, s // 2 + 1),
        }
    thirteen = 7 * 2 ** (3 * d) // 8 + (d * d - 3 * d - 1) * n // 2
    return {
        "[16]": (s, n * s // 2, (n + 2) / 3, (s - 1) * n, s - 1),
        "[13]": (3 * d - 2, thirteen, 9 * s // 2 - 3 * d - 4, thirteen, 3 * d - 3),
        "proposed": (s, n * s // 2, n - 4 * s + 6, 2 * n, s - 1),
    }


def crossover(kind, d, startup, barrier):
    """Return the block size in bytes above which `proposed` takes less time than [13] (section 5)."""
    def line(costs):
        startups, blocks, hops, rearranged, barriers = costs
        fixed = startups * startup + hops * 0.02 + barriers * barrier
        return fixed, blocks * 0.011 + rearranged * 0.014
    (a, b), (c, d) = (line(table_2(kind, d)[name]) for name in ("proposed", "[13]"))
    return round((a - c) / (d - b), 3)


KEYS = ["steps", "blocks", "hops", "blocks_rearranged", "barriers"]
READINGS = {
    "tb d=log2(side)": lambda d: 126 * d - 113,
    "tb d=log2(p)": lambda d: 126 * 2 * d - 113,
    "tb none": lambda d: 0,
}
STARTUPS = {"ts=75us": 75, "ts/tc=20000 (ts=220us)": 220}
EXACT = {
    "torus": "4x4 8x8 8x12 12x12 16x16 4x4x4 8x8x8 4x4x4x4",
    "mesh": "4x4 6x6 6x8 8x8 6x6x6",
}
VIRTUAL = {"torus": "5x5 6x6 10x10 6x10", "mesh": "3x3 5x5 5x5x5"}
square = lambda d: f"{2**d}x{2**d}"
print(json.dumps({
    "exact_sizes": {k: {s: exact(k, s) for s in sizes.split()} for k, sizes in EXACT.items()},
    "virtual_fold": {k: {s: folded(k, s) for s in sizes.split()} for k, sizes in VIRTUAL.items()},
    "table2_rows": {
        kind: {
            square(d): {
                name: {**dict(zip(KEYS, costs)), "below_log2p": costs[0] < 2 * d}
                for name, costs in table_2(kind, d).items()
            }
            for d in range(2, 8)
        }
        for kind in EXACT
    },
    "crossovers": {
        kind: {
            startup: {
                reading: {square(d): crossover(kind, d, us, barrier(d)) for d in range(4, 8)}
                for reading, barrier in READINGS.items()
            }
            for startup, us in STARTUPS.items()
        }
        for kind in EXACT
    },
}))

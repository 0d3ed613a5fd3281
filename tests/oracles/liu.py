"""Write `fixtures/liu.json`: W. Liu, C.-L. Wang, V. K. Prasanna, *Portable and Scalable Algorithm
for Irregular All-to-All Communication* (2002).

Elements are redistributed as in Figs. 11 and 12, with one counter for each destination. The data
that a node keeps for itself counts as a message (section 3). In the revised schedule, nodes stall
in step r - m + k, as in Fig. 10. A2 sends element e of the data from i to j through node i + j +
e. `A4_balanced_start` starts the counters at j and at j / C, so that the destinations of a column
begin with different buckets.

Times are those of an SP2 with elements of 22 bytes. Ts = 44 us. tc + td = 0.035 us per byte (Table
1), of which tc and td are one half each. tm = 0.02 us, which the paper does not give. Nonblocking
times are left out, because the paper does not say in which order messages are sent that are ready
at the same time.
"""

import hashlib
import heapq
import json
import math
from collections import defaultdict
from fractions import Fraction


class SplitMix64:
    """The random generator of the fixture (Steele, Lea & Flood, 2014)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % n


def matrix(p, kind, largest, rest=0, seed=0):
    draw, side = SplitMix64(seed), math.isqrt(p)
    rows = []
    for i in range(p):
        if kind == "uniform":
            rows.append([largest] * p)
        elif kind == "rand":
            rows.append([draw.below(largest + 1) for _ in range(p)])
        else:
            to = draw.below(p) if kind == "pattern1" else i % side * side + i // side
            rows.append([largest if j == to else rest for j in range(p)])
    return rows


class Array:
    """An array of nodes with C columns and R rows. If the last row is incomplete, it has r nodes."""

    def __init__(self, p):
        root = math.isqrt(p - 1) + 1
        self.p, self.c = p, root
        if p % root and p % root > -(-p // root) - 1:
            self.c = math.isqrt(p)
        self.r, self.rows = p % self.c, -(-p // self.c)

    def height(self, column):
        return self.rows - (self.r > 0 and column >= self.r)

    def at(self, row, column):
        return row * self.c + column

    def row_target(self, node, column):
        """Return the node to which `node` sends its data for a column. If the row of `node` has no
        node in this column, it is in the row whose number is the sender's column."""
        row = node // self.c
        if row >= self.height(column):
            row = node % self.c
        return self.at(row, column)

    def row_schedule(self):
        """Return, for each step of Stages I and III, the pairs of sender and receiver."""
        steps = [[] for _ in range(self.c + (self.r > 0))]
        for node in range(self.p):
            row, column = divmod(node, self.c)
            stall = None
            if row < self.r and row < self.rows - 1:
                for k in range(self.c - self.r + row + 1):
                    if (row + self.c - k) % self.c == column:
                        stall = self.r - row + k
            step = 1
            for s in range(1, self.c + 1):
                step += step == stall
                steps[step - 1].append((node, self.row_target(node, (column + s) % self.c)))
                step += 1
        return steps

    def column_schedule(self):
        steps = [[] for _ in range(self.rows)]
        for node in range(self.p):
            row, column = divmod(node, self.c)
            n = self.height(column)
            for s in range(1, n + 1):
                steps[s - 1].append((node, self.at((row + s) % n, column)))
        return steps


def ring(p):
    """Return the schedule of A1: in step i, node j sends to node i + j."""
    return [[(j, (i + j) % p) for j in range(p)] for i in range(1, p + 1)]


def stages(p, name):
    """Return the stages of an algorithm. A stage is a schedule, and a function that returns the
    next node on the route of element `e` of the data that `node` has for the destination `to`."""
    a, side = Array(p), math.isqrt(p)
    if name == "A1":
        return [(ring(p), lambda node, to, e: to)]
    if name == "A2":
        return [(ring(p), lambda node, to, e: (node + to + e) % p), (ring(p), lambda n, to, e: to)]
    if name == "A3":
        row = [[(j, j // side * side + (j + i) % side) for j in range(p)] for i in range(1, side + 1)]
        column = [[(j, (j + i * side) % p) for j in range(p)] for i in range(1, side + 1)]
        return [
            (row, lambda node, to, e: node // side * side + to % side),
            (column, lambda node, to, e: to),
        ]
    balanced = name != "A4"

    def distribute_rows(node, to, e):
        start = to if balanced else to % a.c
        return a.row_target(node, (start + e) % p % a.c)

    def distribute_columns(node, to, e):
        column = node % a.c
        n = a.height(column)
        start = to // a.c % n if balanced else to % n
        return a.at((start + e) % n, column)

    rows, columns = a.row_schedule(), a.column_schedule()
    return [
        (rows, distribute_rows),
        (columns, distribute_columns),
        (rows, lambda node, to, e: a.row_target(node, to % a.c)),
        (columns, lambda node, to, e: to),
    ]


def run(m, name):
    """Return, for each stage and step, the sender, receiver and number of elements of each
    message."""
    p = len(m)
    held = [dict(enumerate(row)) for row in m]
    out = []
    for schedule, target in stages(p, name):
        sent, arrived = defaultdict(int), [defaultdict(int) for _ in range(p)]
        for node, data in enumerate(held):
            for to, elements in data.items():
                for e in range(elements):
                    via = target(node, to, e)
                    sent[node, via] += 1
                    arrived[via][to] += 1
        scheduled = [(a, b) for step in schedule for a, b in step]
        assert len(set(scheduled)) == len(scheduled) and set(sent) <= set(scheduled), name
        out.append([[(a, b, sent[a, b]) for a, b in step] for step in schedule])
        held = arrived
    for j in range(p):
        assert dict(held[j]) == {j: sum(row[j] for row in m)} or not any(row[j] for row in m)
    return out


def most(p, stages_, end, own=True):
    """Return the number of elements that a node sends or receives: the largest sum over all stages,
    the largest number in one stage, and the sum over stages of the largest number."""
    sums = [[0] * p for _ in stages_]
    for total, stage in zip(sums, stages_):
        for message in (message for step in stage for message in step):
            if own or message[0] != message[1]:
                total[message[end]] += message[2]
    return max(map(sum, zip(*sums))), max(map(max, sums)), sum(map(max, sums))


def metrics(m, name):
    p, done = len(m), run(m, name)
    steps = [step for stage in done for step in stage]
    ends = [[message[end] for step in steps for message in step] for end in (0, 1)]
    busy = [len({m[end] for m in step}) < len(step) for step in steps for end in (0, 1)]
    return {
        "conserved": True,
        "steps": len(steps),
        "port_conflict_steps": sum(busy),
        "sends_max": max(map(ends[0].count, range(p))),
        "recvs_max": max(map(ends[1].count, range(p))),
        "sent_max": most(p, done, 0)[0],
        "recv_max": most(p, done, 1)[0],
        "sent_max_noself": most(p, done, 0, own=False)[0],
        "sbuf_max": most(p, done, 0)[1],
        "rbuf_max": most(p, done, 1)[1],
        "longest": [max(message[2] for step in stage for message in step) for stage in done],
        "sum_step_max": sum(max(message[2] for message in step) for step in steps),
    }


def largest_traffic(m):
    return max(max(map(sum, m)), max(map(sum, zip(*m))))


def of_matrix(m):
    p = len(m)
    names = ["A1", "A2", "A4", "A4_balanced_start"] + ["A3"] * (math.isqrt(p) ** 2 == p)
    most_, traffic = max(map(max, m)), largest_traffic(m)
    side = math.isqrt(p - 1) + 1
    return {
        "total": sum(map(sum, m)),
        "Mmax": most_,
        "Lmax": traffic,
        "table4": {
            "A1": [most_ * p, traffic],
            "A2": [traffic, traffic],
            "A3": [most_ * p, most_ * p],
            "A4": [side * side * traffic / p] * 2,
        },
        **{name: metrics(m, name) for name in names},
    }


# The times in us for a message, and for an element.
STARTUP, COMPOSE = Fraction(44), Fraction(2, 100) * 22
COPY = TRANSFER = Fraction(175, 10000) * 22



def blocking(stage, start):
    """Return the time at which the last node has finished a stage. In each step a node first sends
    and then receives (section 2.3). A message waits until the port of the receiver is free."""
    sends, receives = defaultdict(dict), defaultdict(dict)
    for s, step in enumerate(stage):
        for a, b, elements in step:
            sends[a][s], receives[b][s] = (b, elements), (a, elements)
    clock, free, arrived, waiting, ready = {}, defaultdict(Fraction), {}, {}, []

    def begin(node, s, now):
        """Start a step of a node: its send or, if the node does not send, its receive."""
        clock[node] = now
        if s == len(stage):
            return
        if s in sends[node]:
            at = now + STARTUP / 2 + sends[node][s][1] * COPY / 2
            heapq.heappush(ready, (at, node, s))
        else:
            receive(node, s, now)

    def receive(node, s, now):
        if s not in receives[node]:
            begin(node, s + 1, now)
        elif (node, s) in arrived:
            _, elements = receives[node][s]
            now = max(now, arrived[node, s]) + STARTUP / 2 + elements * COPY / 2
            begin(node, s + 1, now)
        else:
            waiting[node, s] = now

    for node in set(sends) | set(receives):
        begin(node, 0, start)
    while ready:
        at, node, s = heapq.heappop(ready)
        to, elements = sends[node][s]
        free[to] = max(at, free[to]) + elements * TRANSFER
        arrived[to, s] = free[to]
        if (to, s) in waiting:
            receive(to, s, waiting.pop((to, s)))
        receive(node, s, free[to])
    return max(clock.values())


def times(p):
    m = matrix(p, "pattern1", 1024, 1, 1)
    traffic, side, c = largest_traffic(m), math.isqrt(p), math.isqrt(p - 1) + 1
    per_element = COPY + TRANSFER + COMPOSE
    closed = {
        "A1": p * STARTUP + traffic * per_element,
        "A2": 2 * p * STARTUP + 2 * traffic * per_element,
        "A3": 2 * side * STARTUP + 2 * traffic * per_element,
        "A4": (4 * c + 2) * STARTUP + Fraction(4 * c * (c + 1) * traffic, p) * per_element,
    }
    out = {"Lmax": traffic}
    for name in closed:
        done = run(m, name)
        composed = most(p, done, 0)[2] * COMPOSE
        steps = [max(message[2] for message in step) for stage in done for step in stage]
        now = Fraction(0)
        for stage in done:
            now = blocking(stage, now + most(p, [stage], 0)[2] * COMPOSE)
        lockstep = len(steps) * STARTUP + sum(steps) * (COPY + TRANSFER) + composed
        values = {"closed": closed[name], "lockstep": lockstep, "blocking": now}
        out[name] = {key: float(value) for key, value in values.items()}
    return out


def geometry(p):
    a = Array(p)
    rows, columns = a.row_schedule(), a.column_schedule()
    schedule = "".join(
        f"{number} {s} {sender} {receiver}\n"
        for number, stage in enumerate([rows, columns, rows, columns], 1)
        for s, step in enumerate(stage, 1)
        for sender, receiver in sorted(step)
    )
    return {
        "C": a.c,
        "R": a.rows,
        "r": a.r,
        "steps_I_III": len(rows),
        "steps_II_IV": len(columns),
        "total_steps": 2 * len(rows) + 2 * len(columns),
        "bound": 4 * (math.isqrt(p - 1) + 1) + 2,
        "A4_schedule_sha256": hashlib.sha256(schedule.encode()).hexdigest()[:16],
    }


NAMES = {
    "uniform(16)": ("uniform", 16),
    "pattern1(1024,s=1,seed=1)": ("pattern1", 1024, 1, 1),
    "rand(20,seed=1)": ("rand", 20, 0, 1),
    "pattern2(1024,s=1)": ("pattern2", 1024, 1),
}
print(json.dumps({
    "metrics": {
        f"P={p} {name}": of_matrix(matrix(p, *what))
        for p in (5, 16, 18)
        for name, what in NAMES.items()
        if p == 16 or what[0] != "pattern2"
    },
    "geometry": {str(p): geometry(p) for p in (2, 3, 5, 11, 16, 18, 19, 25, 36)},
    "times_us": {f"SP2 P={p} pattern1 Mmax=1024 s=1": times(p) for p in (16, 25, 36)},
}))

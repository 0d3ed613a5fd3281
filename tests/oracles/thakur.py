"""Write `fixtures/thakur.json`: R. Thakur, A. Choudhary, G. C. Fox, *Complete Exchange on a
Wormhole Routed Mesh* (1993).

Every message of every step is followed link by link. The algorithms are those of Figs. 1, 2, 4 and
5. The modulus of Fig. 4 is left out: with it, the partner of a node's partner would not always be
the node itself, and Fig. 3 shows the numbering without it. The seconds are those of Tables 2 to 6.
"""

import json
import math
from collections import Counter
from functools import cache

SIZES = [256, 1024, 4096, 8192, 16384]
MESHES = [["4x4", "8x8", "16x8", "16x16", "16x32"], ["4x5", "6x8", "16x9", "16x14", "16x30"]]

# For each table: the algorithm, the index of its meshes in MESHES, and the measured seconds. There
# is a line for each size and a column for each mesh.
TABLES = {
    "Table 2": ("PEX", 0, """0.004 0.022 0.045 0.094 0.203
                             0.008 0.064 0.120 0.290 0.860
                             0.023 0.114 0.355 0.999 3.218
                             0.034 0.228 0.692 2.068 6.794
                             0.064 0.441 1.413 4.145 13.61"""),
    "Table 3": ("PEX-GEN", 1, """0.008 0.019 0.085 0.092 0.211
                                 0.017 0.038 0.191 0.270 0.899
                                 0.037 0.091 0.576 0.977 3.588
                                 0.073 0.174 1.188 2.007 7.616
                                 0.138 0.333 2.403 4.056 15.82"""),
    "Table 4": ("PEX-GEN-SHIFT", 1, """0.008 0.019 0.085 0.092 0.211
                                       0.017 0.038 0.188 0.263 0.894
                                       0.036 0.091 0.543 0.933 3.526
                                       0.071 0.170 1.111 1.948 7.515
                                       0.129 0.333 2.242 3.844 15.74"""),
    "Table 5": ("GEN", 0, """0.004 0.016 0.042 0.089 0.283
                             0.008 0.042 0.123 0.346 1.217
                             0.018 0.145 0.461 1.220 3.944
                             0.037 0.290 0.933 2.511 8.007
                             0.069 0.576 1.947 5.052 16.15"""),
    "Table 6": ("GEN", 1, """0.004 0.015 0.046 0.074 0.246
                             0.009 0.027 0.146 0.285 1.069
                             0.025 0.083 0.527 0.998 3.706
                             0.052 0.186 1.071 2.011 7.752
                             0.098 0.369 2.182 4.005 15.94"""),
}


def partners(algorithm, p):
    """Yield, for each step, the pairs of sender and receiver."""
    if algorithm == "GEN":
        for j in range(1, p):
            yield [(me, (me + j) % p) for me in range(p)]
        return
    q = 1 << (p - 1).bit_length()
    shift = (q - p) // 2 if algorithm == "PEX-GEN-SHIFT" else 0
    for j in range(1, q):
        pairs = [(me, ((me + shift) ^ j) - shift) for me in range(p)]
        pairs = [(me, to + q if to < 0 else to) for me, to in pairs]
        yield [(me, to) for me, to in pairs if to < p]


def walk(mesh, algorithm):
    """Count the messages on each directed link. Routes use the row first, then the column."""
    r, c = map(int, mesh.split("x"))

    # A link has a number: four times the number of the node at which it begins, plus its direction.
    @cache
    def in_row(y, x, to_x):
        d, way = (1, 0) if to_x > x else (-1, 1)
        return [4 * (y * c + at) + way for at in range(x, to_x, d)]

    @cache
    def in_column(x, y, to_y):
        d, way = (1, 2) if to_y > y else (-1, 3)
        return [4 * (at * c + x) + way for at in range(y, to_y, d)]

    loads, in_all, messages, hops = [], Counter(), 0, 0
    for pairs in partners(algorithm, r * c):
        links = []
        for me, to in pairs:
            (y, x), (to_y, to_x) = divmod(me, c), divmod(to, c)
            links += in_row(y, x, to_x)
            links += in_column(to_x, y, to_y)
        loads.append(max(Counter(links).values()))
        messages += len(pairs)
        hops += len(links)
        in_all.update(links)
    return {"f": loads, "messages": messages, "hops": hops, "busiest": max(in_all.values())}


def half(loads):
    """Return the sum of max(1, f / 2) over all steps. A link carries up to two messages at full
    speed."""
    return sum(max(1.0, f / 2) for f in loads)


def printed(mesh, algorithm):
    """Return f(i), the number of messages on a link in step i, as printed in 3.1 and 3.4."""
    r, c = map(int, mesh.split("x"))
    p = r * c
    if algorithm == "PEX":
        return [2 ** math.ceil(math.log2(max(i % c, i // c))) for i in range(1, p)]
    return [min(i % c, c - i % c) + min(i // c, (p - i) // c) for i in range(1, p)]


def profile(mesh, algorithm):
    run = walked[mesh, algorithm]
    loads = run["f"]
    out = {
        "steps": len(loads),
        "messages": run["messages"],
        "sum_f": sum(loads),
        "sum_f_lower_bound": run["busiest"],
        "max_f": max(loads),
        "sum_half": half(loads),
        "hist": {str(f): n for f, n in sorted(Counter(loads).items())},
        "hops": run["hops"],
    }
    if algorithm in ("PEX", "GEN"):
        paper = printed(mesh, algorithm)
        wrong = sum(a != b for a, b in zip(paper, loads))
        out["printed"] = {"wrong": wrong, "sum": sum(paper)}
        if algorithm == "GEN":
            out["printed"].update(max=max(paper), sum_half=half(paper))
    return out


def fit(samples, weighted=True):
    """Fit T = steps alpha + L sum_half beta by least squares. Return alpha and beta in us, and the
    mean relative error."""
    rows = [(s, x, t, 1 / t if weighted else 1.0) for s, x, t in samples]
    ss, sx, xx, st, xt = (
        sum(w * w * f(s, x, t) for s, x, t, w in rows)
        for f in (
            lambda s, x, t: s * s,
            lambda s, x, t: s * x,
            lambda s, x, t: x * x,
            lambda s, x, t: s * t,
            lambda s, x, t: x * t,
        )
    )
    det = ss * xx - sx * sx
    alpha, beta = (st * xx - xt * sx) / det, (xt * ss - st * sx) / det
    errors = [abs((s * alpha + x * beta) / t - 1) for s, x, t in samples]
    return alpha * 1e6, beta * 1e6, sum(errors) / len(errors)


def samples(names, load=lambda mesh, algorithm: half(walked[mesh, algorithm]["f"])):
    """Return (steps, bytes times sum_half, seconds) for every cell of the tables `names`."""
    return [
        (len(walked[mesh, algorithm]["f"]), size * load(mesh, algorithm), seconds)
        for name in names
        for algorithm in [TABLES[name][0]]
        for mesh, times in tables[name].items()
        for size, seconds in zip(SIZES, times)
    ]


def findings(alpha, beta):
    """Count, for each claim of the paper, the cells in which it is true."""
    of = {(TABLES[name][0], mesh): times for name, m in tables.items() for mesh, times in m.items()}
    measured = lambda algorithm, mesh, size: of[algorithm, mesh][SIZES.index(size)]

    def model(algorithm, mesh, size, as_printed=False):
        loads = walked[mesh, algorithm]["f"]
        if as_printed and algorithm == "GEN":
            loads = printed(mesh, algorithm)
        return len(loads) * alpha + size * half(loads) * beta

    less, at_most = (lambda a, b: a < b), (lambda a, b: a <= b)
    claims = [
        ("PEX is faster than GEN on 64 or more processors above 1 KB (section 4)",
         "PEX", "GEN", MESHES[0][1:], SIZES[2:], less),
        ("GEN is no slower than PEX on 4 x 4 up to 1 KB (conclusions)",
         "GEN", "PEX", ["4x4"], SIZES[:2], at_most),
        ("PEX-GEN-SHIFT is no slower than PEX-GEN (section 4)",
         "PEX-GEN-SHIFT", "PEX-GEN", MESHES[1], SIZES, at_most),
        ("PEX-GEN is slower on 16 x 30 than PEX on 16 x 32 (section 4)",
         "PEX-GEN", "PEX", ["16x30"], SIZES, lambda a, b: a > b),
        ("PEX-GEN-SHIFT is faster than GEN on 16 x 14 and 16 x 30 above 256 B (section 4)",
         "PEX-GEN-SHIFT", "GEN", ["16x14", "16x30"], SIZES[1:], less),
    ]
    out = {}
    for text, a, b, meshes, sizes, holds in claims:
        cells = [(m, "16x32" if (a, b) == ("PEX-GEN", "PEX") else m, s) for m in meshes for s in sizes]
        count = lambda time: sum(holds(time(a, m, s), time(b, n, s)) for m, n, s in cells)
        out[text] = {"tables": count(measured), "model": count(model)}
        if "GEN" in (a, b):
            out[text]["model, f as printed"] = count(lambda *cell: model(*cell, as_printed=True))
        out[text] = {key: f"{n} of {len(cells)}" for key, n in out[text].items()}
    return out


tables = {}
for name, (_, group, text) in TABLES.items():
    lines = [[float(word) for word in line.split()] for line in text.splitlines()]
    tables[name] = {mesh: [line[i] for line in lines] for i, mesh in enumerate(MESHES[group])}
walked = {}
for algorithm, group, _ in TABLES.values():
    for mesh in MESHES[group]:
        walked[mesh, algorithm] = walk(mesh, algorithm)

small = ["4x4 PEX", "4x4 GEN", "8x8 PEX", "8x8 GEN", "4x5 PEX-GEN", "4x5 PEX-GEN-SHIFT", "4x5 GEN"]
small += ["6x8 PEX-GEN", "6x8 PEX-GEN-SHIFT", "6x8 GEN"]
as_printed = lambda mesh, algorithm: half(printed(mesh, algorithm))
fits = {
    "PEX, Table 2": fit(samples(["Table 2"])),
    "PEX, Table 2, unweighted": fit(samples(["Table 2"]), weighted=False),
    "GEN, Tables 5 and 6": fit(samples(["Table 5", "Table 6"])),
    "GEN, Tables 5 and 6, f as printed": fit(samples(["Table 5", "Table 6"], as_printed)),
}
alpha, beta, _ = fits["PEX, Table 2"]
keys = ["alpha_us", "beta_us_per_byte", "mean_error"]
print(json.dumps({
    "profiles": {name: profile(*name.split()) for name in small},
    "tables": tables,
    "fits": {name: {k: float(f"{x:.6g}") for k, x in zip(keys, f)} for name, f in fits.items()},
    "findings": findings(alpha, beta),
}))

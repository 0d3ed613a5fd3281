"""Writes `fixtures/simgrid_exports.json`: the times that SimGrid takes for exported schedules.

    python3 tests/oracles/simgrid_exports.py target/debug/swapmeet

The program exports each case (`export --format simgrid`). The exported `replay.cpp` is compiled and
plays the schedule with SimGrid's own model CM02. The fixture was made with SimGrid 3.32. A test
compares the times with those of the model `fluid`, which shares no code with SimGrid.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# The topology, the algorithm, the workload and the parameters of the machine. Together, they have all
# parameters that an export expresses.
CASES = [
    ("torus:4x4", "pairwise", "uniform:1KiB", "startup_us=100,hop_us=5"),
    ("torus:3x4", "linear", "uniform:100000", "hop_us=3"),
    ("torus:4x4", "suh-shin", "uniform:4KiB", "startup_us=2,hop_us=0.5"),
    ("torus:4x5", "gen", "uniform:1000", "startup_us=1.5,hop_us=20"),
    ("ring:7,down=0-1", "linear", "uniform:10000", "startup_us=3,hop_us=1"),
    ("torus:3x4,slow=0-1:0.25+4~5:0.5", "pairwise", "uniform:10000", "startup_us=1,hop_us=2"),
    ("groups:4x4,inside=9,inside_hop=0.25", "pairwise", "uniform:10000", "startup_us=1,hop_us=4"),
    ("fat-tree:2x3", "bruck", "uniform:5000", "startup_us=4,hop_us=1"),
    ("dragonfly:3x2x2", "linear", "uniform:2000", "startup_us=2,hop_us=0.3"),
    ("fully-connected:8", "ring-allreduce", "allreduce/uniform:80000", "startup_us=5,hop_us=1,reduce_byte_us=0.0003"),
    ("hypercube:4", "recursive-doubling-allreduce", "allreduce/uniform:64KiB", "startup_us=2,hop_us=1,reduce_byte_us=0.002,barrier_us=7"),
    ("torus:4x4", "bruck", "uniform:1000", "startup_us=2,rendezvous_bytes=6000,rendezvous_us=20,eager_byte_us=0.002"),
    ("torus:4x4", "pairwise", "uniform:3000", "startup_us=2,hop_us=1,order=barrier"),
    ("mesh:3x4", "linear", "uniform:5000", "startup_us=1,hop_us=1,injection_byte_us=0.0015"),
    ("ring:6", "ring", "uniform:2000", "startup_us=2,hop_us=3,late=2:50+5:20"),
    ("torus:4x4", "pairwise", "uniform:2000", "startup_us=2,hop_us=3,late=random:4:100"),
    ("torus:3x4", "linear", "uniform:20000", "hop_us=2,weight_bytes=20000"),
    ("torus:3x4", "gen", "uniform:20000", "startup_us=1,hop_us=2,latency_factor=13,bandwidth_factor=0.9"),
    ("ring:4,ranks=2", "pairwise", "uniform:10000", "startup_us=1,hop_us=2,ports=all"),
]


def main() -> None:
    swapmeet = pathlib.Path(sys.argv[1]).resolve()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        replay = None
        for number, (topology, algorithm, workload, parameters) in enumerate(CASES):
            machine = f"free:model=fluid,byte_us=0.001,{parameters}"
            out = pathlib.Path(folder, str(number))
            case = ["--topology", topology, "--algorithm", algorithm, "--workload", workload, "--machine", machine]
            made = subprocess.run([swapmeet, "export", "--format", "simgrid", *case, "--out", out], check=True, capture_output=True, text=True)
            assert made.stderr == "", made.stderr
            if replay is None:
                replay = pathlib.Path(folder, "replay")
                subprocess.run(["c++", "-std=c++17", "-O1", "-o", replay, out / "replay.cpp", "-lsimgrid"], check=True)
            played = subprocess.run([replay, out / "platform.xml", out / "messages.txt"], check=True, capture_output=True, text=True)
            us = float(played.stdout.split()[0])
            rows.append({"topology": topology, "algorithm": algorithm, "workload": workload, "machine": machine, "simgrid_us": us})
    lines = ",\n".join(json.dumps(row) for row in rows)
    fixture = pathlib.Path(__file__).resolve().parents[1] / "fixtures/simgrid_exports.json"
    fixture.write_text(f'{{"what": "Times of exported schedules by SimGrid 3.32, model CM02, made by oracles/simgrid_exports.py",\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")


main()

"""Writes `fixtures/smpi-jobs.json`: the times of two jobs that run at the same time, by SMPI.

    python3 tests/oracles/smpi_jobs.py target/debug/swapmeet

`smpi_jobs.c` is a program for MPI that splits MPI_COMM_WORLD and runs two collectives at the same
time. SMPI of SimGrid 3.32 runs it on the platform that `export --format simgrid` writes for the
topology, with SimGrid's own algorithms of MPI_Alltoall and MPI_Allreduce. Without the program, the
stored times are only compared with those of the model `fluid`, which shares no code with SimGrid.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# SimGrid's names of algorithms, and those of Swapmeet.
ALLTOALL = {"linear": "basic_linear", "pairwise": "pair"}
ALLREDUCE = {"ring-allreduce": "lr", "recursive-doubling-allreduce": "rdb"}
# The topology, its number of nodes, and two jobs: algorithm, axis, stride and size of the axis,
# bytes and start in us.
CASES = [
    ("torus:4x4,mesh=dp:4/ep:4", [("linear", "ep", 1, 4, 1 << 20, 0), ("ring-allreduce", "dp", 4, 4, 4 << 20, 0)]),
    ("torus:4x4,mesh=a:2/ep:4/b:2", [("linear", "ep", 2, 4, 1 << 20, 0), ("ring-allreduce", "ep", 2, 4, 4 << 20, 0)]),
    ("torus:4x4,mesh=a:2/ep:4/b:2", [("pairwise", "ep", 2, 4, 1 << 20, 0), ("ring-allreduce", "ep", 2, 4, 4 << 20, 30)]),
    ("torus:4x4,mesh=dp:2/ep:8", [("pairwise", "ep", 1, 8, 1 << 20, 0), ("recursive-doubling-allreduce", "dp", 8, 2, 4 << 20, 0)]),
    ("torus:4x4,mesh=dp:2/ep:8", [("linear", "ep", 1, 8, 1 << 18, 5), ("recursive-doubling-allreduce", "ep", 1, 8, 4 << 20, 0)]),
    ("ring:16,mesh=dp:4/ep:4", [("pairwise", "ep", 1, 4, 1 << 20, 0), ("ring-allreduce", "dp", 4, 4, 4 << 20, 0)]),
    ("ring:16,mesh=dp:4/ep:4", [("linear", "dp", 4, 4, 1 << 19, 0), ("recursive-doubling-allreduce", "dp", 4, 4, 1 << 20, 100)]),
    ("groups:4x4,inside=3,mesh=node:4/gpu:4", [("linear", "gpu", 1, 4, 1 << 20, 0), ("ring-allreduce", "node", 4, 4, 4 << 20, 0)]),
    ("fat-tree:4x2,mesh=dp:4/ep:4", [("pairwise", "dp", 4, 4, 1 << 20, 0), ("ring-allreduce", "ep", 1, 4, 4 << 20, 10)]),
    ("dragonfly:4x2x2,mesh=dp:4/ep:4", [("linear", "ep", 1, 4, 1 << 20, 0), ("ring-allreduce", "dp", 4, 4, 4 << 20, 0)]),
]
MACHINE = "free:model=fluid,byte_us=0.0001,hop_us=0.1"
SETTINGS = [
    "network/model:CM02", "network/TCP-gamma:0", "network/latency-factor:1", "network/bandwidth-factor:1",
    "network/weight-S:0", "network/crosstraffic:0", "smpi/os:0:0:0", "smpi/or:0:0:0", "smpi/ois:0:0:0",
    "smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0", "smpi/simulate-computation:no",
    "smpi/iprobe:0", "smpi/test:0", "smpi/wtime:0", "smpi/display-timing:no",
]


def main() -> None:
    swapmeet = pathlib.Path(sys.argv[1]).resolve()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "smpi_jobs"
        subprocess.run(["smpicc", "-O1", "-o", program, HERE / "smpi_jobs.c"], check=True)
        for number, (topology, jobs) in enumerate(CASES):
            out = folder / str(number)
            plain = topology.split(",mesh=")[0]
            case = ["--topology", plain, "--algorithm", "linear", "--workload", "uniform:1", "--machine", MACHINE]
            subprocess.run([swapmeet, "export", "--format", "simgrid", *case, "--out", out], check=True, capture_output=True)
            hosts = folder / "hosts"
            hosts.write_text("".join(f"n{i % 16}\n" for i in range(32)), encoding="utf-8")
            settings, args, written = list(SETTINGS), [], []
            for algorithm, axis, stride, size, count, start in jobs:
                is_alltoall = algorithm in ALLTOALL
                of = ALLTOALL if is_alltoall else ALLREDUCE
                collective = "alltoall" if is_alltoall else "allreduce"
                settings.append(f"smpi/{collective}:{of[algorithm]}")
                args += [str(stride), str(size), collective, str(count), str(start)]
                prefix = "" if is_alltoall else "allreduce/"
                written.append({"algorithm": algorithm, "workload": f"{prefix}uniform:{count},over={axis}", "start_us": start})
            command = ["smpirun", "-np", "32", "-platform", out / "platform.xml", "-hostfile", hosts]
            command += [f"--cfg={setting}" for setting in settings] + ["--log=root.thres:error", program, *args]
            played = subprocess.run(command, check=True, capture_output=True, text=True)
            times = [float(us) for us in played.stdout.split()]
            for job, us in zip(written, times, strict=True):
                job["smpi_us"] = us
            rows.append({"topology": topology, "machine": MACHINE, "jobs": written})
    lines = ",\n".join(json.dumps(row) for row in rows)
    what = "Times of two jobs that run at the same time, by SMPI of SimGrid 3.32, made by oracles/smpi_jobs.py"
    fixture = HERE.parent / "fixtures/smpi-jobs.json"
    fixture.write_text(f'{{"what": "{what}",\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")


main()

use super::*;
use std::path::Path;

fn read_as(path: &str, text: &str, collective: Option<&str>) -> Result<Vec<Measurement>, String> {
    let read_companion: &dyn Fn(&Path) -> Result<String, String> =
        &|path| std::fs::read_to_string(path).map_err(|e| e.to_string());
    read(&MeasurementFile { path: Path::new(path), text, collective, read_companion }, None)
        .map_err(|wrong| wrong.to_string())
}

const OSU: &str = "\
# OSU MPI All-to-All Personalized Exchange Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)  Max Latency(us)  Iterations
1                       4.31             4.20              4.55        1000
1024                   18.75            18.00             19.50        1000
";

#[test]
fn osu_sizes_are_of_a_pair() {
    let list = read_as("a.txt", OSU, None).unwrap();
    let found: Vec<_> =
        list.iter().map(|m| (m.collective.as_str(), m.size, m.time_us, m.block_bytes(7))).collect();
    assert_eq!(found, [("alltoall", 1, 4.31, Ok(1)), ("alltoall", 1024, 18.75, Ok(1024))]);
    assert_eq!(list[1].note, "Min Latency(us) 18.00, Max Latency(us) 19.50, Iterations 1000");
    assert_eq!((list[1].ranks, list[1].is_checked, list[1].line), (None, false, 5));
    let reduce_scatter = OSU.replace("All-to-All Personalized Exchange", "Reduce_scatter");
    let list = read_as("a.txt", &reduce_scatter, None).unwrap();
    assert_eq!(
        list[1].block_bytes(4),
        Ok(256),
        "the size is the send buffer's, a result a fourth of it"
    );
    assert_eq!(
        list[0].block_bytes(4).unwrap_err().to_string(),
        "line 4: 1 bytes are no multiple of 4 ranks, among which they are split"
    );
}

#[test]
fn malformed_osu_lines_are_refused() {
    for (from, to, why) in [
        ("18.75", "fast", "line 5: the average latency is `fast`, expected a time"),
        ("18.75 ", "nan ", "line 5: the average latency is `NaN`, expected a time"),
        ("1024 ", "1e3 ", "line 5: the size is `1e3`, expected a whole number"),
        (
            "1024                   18.75            18.00             19.50        1000",
            "1024",
            "line 5: the average latency is missing",
        ),
        ("All-to-All Personalized Exchange", "Bandwidth", "names no known collective"),
        (
            "Avg Latency(us)",
            "Bandwidth (MB/s)",
            "the first column is `Bandwidth (MB/s)`, expected a latency",
        ),
    ] {
        let error = read_as("a.txt", &OSU.replace(from, to), None).unwrap_err();
        assert!(error.contains(why), "{from} -> {to}: {error}");
    }
}

/// OSU's title names the kind of memory of the buffers, or the library NCCL.
#[test]
fn osu_titles_name_the_library() {
    for library in ["MPI-CUDA", "MPI-ROCM", "NCCL"] {
        let text =
            OSU.replace("MPI All-to-All Personalized Exchange", &format!("{library} Allreduce"));
        assert_eq!(read_as("a.txt", &text, None).unwrap()[0].collective, "allreduce", "{library}");
    }
}

const IMB: &str = "\
#----------------------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#----------------------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.00         0.00
# Benchmarking Alltoall
# #processes = 32
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1024         1000        21.10        23.55        22.41
";

#[test]
fn imb_tables_of_collectives_are_read() {
    let list = read_as("a.txt", IMB, None).unwrap();
    assert_eq!(list.len(), 1);
    let m = &list[0];
    assert_eq!(
        (m.collective.as_str(), m.size, m.time_us, m.ranks, m.line),
        ("alltoall", 1024, 22.41, Some(32), 11)
    );
    assert_eq!(m.note, "repetitions 1000, t_min[usec] 21.10, t_max[usec] 23.55");
    let short = read_as("a.txt", &IMB.replace("        22.41", ""), None).unwrap_err();
    assert_eq!(short, "line 11: 4 numbers, expected 5");
}

const NCCL: &str = "\
# Collective test starting: alltoall_perf
# nThread 1 nGpus 4 minBytes 1024 maxBytes 1048576 step: 1024(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid  1 on h device  0 [0x1b] GPU
#  Rank  1 Group  0 Pid  1 on h device  1 [0x1c] GPU
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576         32768     float    none      -1    41.20   25.45   22.27      0    41.60   25.21   22.06    N/A
";

#[test]
fn nccl_sizes_are_of_the_whole_buffer() {
    let list = read_as("a.txt", NCCL, None).unwrap();
    let m = &list[0];
    assert_eq!(
        (m.collective.as_str(), m.time_us, m.ranks, m.is_checked),
        ("alltoall", 41.2, Some(2), true)
    );
    assert_eq!((m.size, m.block_bytes(2)), (1_048_576, Ok(524_288)));
    // This excerpt lists only the last rank (coreweave/nccl-tests#43).
    let last = NCCL.replace("Rank  1", "Rank 71");
    let last = last.lines().filter(|line| !line.contains("Rank  0")).collect::<Vec<_>>().join("\n");
    let list = read_as("a.txt", &last, None).unwrap();
    assert_eq!((list[0].ranks, list[0].communicators.len()), (Some(72), 0));
    let broken = read_as("a.txt", &NCCL.replace("22.27      0", "22.27      7"), None).unwrap_err();
    assert_eq!(broken, "line 8: 7 results were wrong, expected 0: not a time of this collective");
}

/// NVIDIA/nccl#1453 has 24 ranks, which its excerpt does not list. They follow from 2(n - 1)/n =
/// 29.50/15.39. In nccl-tests#78 (64 ranks), the bandwidths are so low that several numbers of
/// ranks match their decimals.
#[test]
fn the_ratio_of_bandwidths_gives_the_ranks() {
    let ranks = |rows: &str| {
        let header = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
        let text = format!("{header}{rows}");
        read_as("nccl.log", &text, Some("allreduce")).unwrap()[0].ranks
    };
    let precise = "33554432 8388608 float sum -1 2180.1 15.39 29.50 0\n16777216 4194304 float sum -1 1334.9 12.57 24.09 0\n";
    assert_eq!(ranks(precise), Some(24));
    assert_eq!(ranks("268435456 67108864 float sum -1 122131 2.20 4.33 0\n"), None);
    assert_eq!(ranks("8 2 float sum -1 20.0 0.00 0.00 0\n"), None);
    let contradiction =
        "67108864 1 float sum -1 1 100.00 187.50 0\n67108864 1 float sum -1 1 100.00 100.00 0\n";
    assert_eq!(ranks(contradiction), None);
}

/// Rows as people post them in issues. Some have the label of `srun --label` (ROCm/rccl#1490), or
/// the label of `mpirun` before each piece of a line (NVIDIA/nccl#1453). Others were copied without
/// `#`, from a release that prints errors instead of counts (NVIDIA/nccl#583, nccl-tests#78).
#[test]
fn nccl_tables_of_issues_are_read() {
    let times = |text: &str, collective| {
        let list = read_as("nccl.log", text, Some(collective)).unwrap();
        list.iter().map(|m| (m.size, m.time_us, m.in_place_us)).collect::<Vec<_>>()
    };
    let srun = " 0: #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
 0:        65536           512     float    none      -1    107.5    0.61    0.59      0    105.6    0.62    0.60      0
";
    assert_eq!(times(srun, "allgather"), [(65_536, 107.5, Some(105.6))]);
    let mpirun = "[0]#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[0]      1048576        262144     float     sum      -1[0]    1626.5    0.64    1.24      0[0]    2302.3    0.46    0.87      0
";
    assert_eq!(times(mpirun, "allreduce"), [(1_048_576, 1626.5, Some(2302.3))]);
    let copied = "       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
   268435456      67108864   float     sum   122131    2.20    4.33  2e-06   122165    2.20    4.33  2e-06
   536870912       2097152   float           1041974    0.52    0.51  0e+00  1041299    0.52    0.51  1e+00
";
    let expected =
        [(268_435_456, 122_131.0, Some(122_165.0)), (536_870_912, 1_041_974.0, Some(1_041_299.0))];
    assert_eq!(times(copied, "allreduce"), expected);
    // The time of day is different in each line (NVIDIA/nccl#1368).
    let stamped = "Thu Jul 18 15:41:05 2024<stdout>:#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
Thu Jul 18 15:41:05 2024<stdout>:     1048576        262144     float     sum      -1    354.9    2.95    5.76      0    345.7    3.03    5.92      0
Fri Jul 19 00:00:01 2024<stdout>:     2097152        524288     float     sum      -1    362.1    5.79   11.29      0    361.0    5.81   11.33      0
";
    let expected = [(1_048_576, 354.9, Some(345.7)), (2_097_152, 362.1, Some(361.0))];
    assert_eq!(times(stamped, "allreduce"), expected);
    let container =
        stamped.replace("Thu Jul 18 15:41:05 2024<stdout>:", "2024-07-18T15:41:05.98Z ");
    let container =
        container.replace("Fri Jul 19 00:00:01 2024<stdout>:", "2024-07-19T00:00:01.1Z ");
    assert_eq!(times(&container, "allreduce"), expected);
    // In a table that a user has edited, the first column is another one (NVIDIA/nccl#527).
    let other = " p4dn        size         count      type   redop     time   algbw   busbw  error
   4   1073741824     268435456     float     sum    70253   15.28   29.61  1e-06
";
    let why = read_as("nccl.log", other, Some("allreduce")).unwrap_err();
    let expected =
        "line 1: it has no measurement: no line below begins with a size, a count and a type";
    assert_eq!(why, expected);
}

/// The rows are from NVIDIA/nccl-tests#78 and ROCm/rccl#1490, or follow doc/PERFORMANCE.md.
#[test]
fn rows_imply_their_collective() {
    const NEW: &str =
        "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
    const OLD: &str = "size count type redop time algbw busbw error time algbw busbw error\n";
    for (header, row, collectives, ranks) in [
        (
            OLD,
            "536870912 2097152 float 1041974 0.52 0.51 0e+00 1041299 0.52 0.51 1e+00",
            &["alltoall"][..],
            Some(64),
        ),
        (
            NEW,
            "65536 512 float none -1 107.5 0.61 0.59 0 105.6 0.62 0.60 0",
            &["allgather", "alltoall"],
            Some(32),
        ),
        (
            NEW,
            "65536 512 float none -1 107.5 0.61 0.59 0 105.6 0.62 0.60 N/A",
            &["alltoall"],
            Some(32),
        ),
        (
            NEW,
            "1073741824 268435456 float sum -1 10737 100.00 187.50 0 10737 100.00 187.50 0",
            &["allreduce"],
            Some(16),
        ),
        (
            NEW,
            "1073741824 16777216 float sum -1 10737 100.00 93.75 0 10737 100.00 93.75 0",
            &["reduce-scatter"],
            Some(16),
        ),
        (
            NEW,
            "1073741824 268435456 float none 0 10737 100.00 100.00 0 10737 100.00 100.00 0",
            &["broadcast"],
            None,
        ),
        (
            NEW,
            "1073741824 268435456 float sum 0 10737 100.00 100.00 0 10737 100.00 100.00 0",
            &["reduce"],
            None,
        ),
        (
            OLD,
            "1073741824 268435456 float sum 10737 100.00 100.00 0e+00 10737 100.00 100.00 0e+00",
            &["allreduce", "reduce"],
            None,
        ),
        (
            NEW,
            "1073741824 268435456 float none -1 10737 100.00 100.00 0 10737 100.00 100.00 0",
            &[],
            None,
        ),
    ] {
        let found = implied(&format!("{header}{row}\n")).unwrap();
        assert_eq!((&found.collectives[..], found.line), (collectives, 2), "{row}");
        let ranks_of_two = collectives.first() == Some(&"allreduce") && ranks.is_none();
        assert!(found.ranks == ranks || ranks_of_two, "{row}: {found:?}");
        let text = format!("{header}{row}\n");
        match collectives {
            [one] => assert_eq!(read_as("x", &text, None).unwrap()[0].collective, *one),
            _ => {
                let why = read_as("x", &text, None).unwrap_err();
                let words = if collectives.is_empty() {
                    "allreduce, allgather"
                } else {
                    &collectives.join(" or ")
                };
                assert!(why.contains(words), "{why}");
            }
        }
    }
    let sum = "1048576 262144 float sum -1 1 1 1 0 1 1 1 0\n";
    let none = "65536 512 float none -1 107.5 0.61 0.59 0 105.6 0.62 0.60 0\n";
    assert_eq!(implied(&format!("{NEW}{sum}{none}")), None);
}

/// In NVIDIA/nccl#1453, messages of NCCL with the label of a rank are between the pieces of a row.
/// In the second text, there is no label, and the name of the host follows a value without a space.
/// The names of hosts of containers can begin with a digit (NVIDIA/nccl#892).
#[test]
fn messages_of_nccl_divide_rows() {
    let labelled = "\
[0] #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
[0] h100clust-worker-1:497888:497888 [0] NCCL INFO 8589934592 Bytes -> Algo 1 proto 2 time 86069.968750
[0]   8589934592    2147483648     float     sum      -1[0] h100clust-worker-1:497888:497888 [0] NCCL INFO 8589934592 Bytes -> Algo 1 proto 2 time 86069.968750
[0]   3300068    2.60    4.99      0[0] h100clust-worker-1:497888:497888 [0] NCCL INFO 8589934592 Bytes -> Algo 1 proto 2 time 86069.968750
[0] h100clust-worker-1:497888:497888 [0] NCCL INFO 8589934592 Bytes -> Algo 1 proto 2 time 86069.968750
[0]   3285701    2.61    5.01      0
";
    let glued = labelled.replace("[0] h100", "h100").replace("[0] ", "");
    let digits = glued.replace("h100clust-worker-1", "036260b61d3a");
    for text in [labelled.to_owned(), glued.replace(":497888 NCCL", ":497888 [0] NCCL"), digits] {
        let list = read_as("nccl.log", &text, Some("allreduce")).unwrap();
        let found: Vec<_> = list.iter().map(|m| (m.size, m.time_us, m.in_place_us)).collect();
        assert_eq!(found, [(8_589_934_592, 3_300_068.0, Some(3_285_701.0))], "{text}");
        assert!(list[0].is_checked && list[0].note == "busbw 4.99 GB/s", "{:?}", list[0]);
    }
}

const NCCL_JSON: &str = r#"{ "version": 3, "args": ["./build/all_reduce_perf", "-J", "f"], "nccl_version": 22705,
  "config": { "nthreads": 1, "devices": [ {"rank":0,"hostname":"h"}, {"rank":1,"hostname":"h"} ] },
  "results": [ { "size":1048576, "count":32768, "type":"float", "redop":"sum", "root":"-1",
      "out_of_place": {"time":41.2,"alg_bw":25.4,"bus_bw":22.3,"nwrong":0,"min_us":40.0}, "in_place": null },
    { "size": 8, "out_of_place": null } ] }"#;

#[test]
fn nccl_json_of_version_3_is_read() {
    let list = read_as("a.json", NCCL_JSON, None).unwrap();
    assert_eq!(list.len(), 1, "what was not run has no time");
    let m = &list[0];
    assert_eq!(
        (m.collective.as_str(), m.size, m.time_us, m.ranks),
        ("allreduce", 1_048_576, 41.2, Some(2))
    );
    assert_eq!(
        (m.block_bytes(2), m.note.as_str(), m.is_checked),
        (Ok(1_048_576), "min_us 40.0", true)
    );
    let cpu = read_as("a.json", &NCCL_JSON.replace("\"time\"", "\"cpu_time\""), None).unwrap();
    assert_eq!(cpu[0].time_us, 41.2);
    for (from, to, why) in [
        ("\"version\": 3", "\"version\": 4", "its version is 4, expected 3"),
        ("41.2", "\"soon\"", "line 4: invalid type"),
        ("\"nwrong\":0", "\"nwrong\":3", "results were wrong"),
        ("all_reduce_perf", "nap_perf", "name it with --collective"),
    ] {
        let error = read_as("a.json", &NCCL_JSON.replace(from, to), None).unwrap_err();
        assert!(error.contains(why), "{from} -> {to}: {error}");
    }
}

#[test]
fn pico_uses_file_name_and_metadata() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("results/lumi/2026_11_21___10_00_00");
    std::fs::create_dir_all(&run).unwrap();
    let metadata = "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib\n2026_11_21___10_00_00,0,8,1,ALLTOALL,OMPI\n";
    std::fs::write(dir.path().join("results/lumi_metadata.csv"), metadata).unwrap();
    let file = run.join("1024_modified_bruck_int32.csv");
    let list = read_as(file.to_str().unwrap(), "highest\n41200\n40100\n", None).unwrap();
    assert_eq!(list.len(), 2);
    let m = &list[0];
    assert_eq!(
        (m.collective.as_str(), m.size, m.ranks, m.time_us),
        ("alltoall", 4096, Some(8), 41.2)
    );
    assert_eq!(m.algorithm.as_deref(), Some("modified_bruck"));
    let all = read_as(
        "8_pairwise_double.csv",
        "highest,rank0,rank1,rank2\n5000,4000,5000,3000\n",
        Some("bcast"),
    )
    .unwrap();
    assert_eq!((all[0].collective.as_str(), all[0].size, all[0].ranks), ("broadcast", 64, Some(3)));
    let refused = |path: &str, text: &str| read_as(path, text, Some("bcast")).unwrap_err();
    assert!(
        refused("lost.csv", "highest\n1\n").contains("expected COUNT_ALGORITHM[_SEGMENT]_TYPE.csv")
    );
    assert_eq!(
        refused("8_linear_int8.csv", "highest\n1.5\n"),
        "line 2: `1.5`, expected nanoseconds"
    );
}

/// PICO allocates `count` elements and sends blocks of `count / ranks` elements
/// (`pico_core_utils.c`, `PMPI_Alltoall(sbuf, count / comm_sz, ..)`).
#[test]
fn counts_of_pico_are_those_of_the_whole_buffer() {
    let all = read_as("64_bruck_int32.csv", "highest,a,b\n1,1,1\n", Some("alltoall")).unwrap();
    assert_eq!((all[0].size, all[0].block_bytes(8)), (256, Ok(32)));
    let all = read_as("64_binomial_int32.csv", "highest,a,b\n1,1,1\n", Some("bcast")).unwrap();
    assert_eq!(all[0].block_bytes(8), Ok(256));
}

/// If the count is no multiple of the ranks, blocks have `count / ranks` elements, rounded down.
#[test]
fn pico_omits_the_remainder_of_a_count() {
    let all = read_as("67_ring_int32.csv", "highest,a,b\n1,1,1\n", Some("allgather")).unwrap();
    assert_eq!((all[0].size, all[0].block_bytes(2)), (264, Ok(132)));
    let all = read_as("67_ring_int32.csv", "highest,a,b\n1,1,1\n", Some("allreduce")).unwrap();
    assert_eq!(all[0].block_bytes(2), Ok(268));
}

/// The expected values are those of numpy's `median` and `percentile`.
#[test]
fn medians_replace_all_times_of_a_case() {
    let times = "highest\n9000\n1000\n4000\n2000\n";
    let mut all = read_as("8_bruck_int32.csv", times, Some("bcast")).unwrap();
    all.extend(read_as("16_bruck_int32.csv", "highest\n7000\n", Some("bcast")).unwrap());
    let all = medians(all);
    let read: Vec<(u64, f64, &str)> =
        all.iter().map(|m| (m.size, m.time_us, m.note.as_str())).collect();
    let expected = [
        (32, 3.0, "bruck, median of 4, quartiles 1.750 and 5.250 us"),
        (64, 7.0, "bruck, median of 1, quartiles 7.000 and 7.000 us"),
    ];
    assert_eq!(read, expected);
}

/// The counterparts of LUMI are algorithms of PICO's own program and of Cray MPICH.
#[test]
fn algorithms_of_lumi_have_counterparts() {
    let ours = |collective, library| counterpart(collective, library, 16, 64);
    assert_eq!(ours("allreduce", "bine_lat_over"), Some("bine-allreduce:variant=whole"));
    assert_eq!(ours("allgather", "brucks_mpich"), Some("bruck"));
    assert_eq!(ours("allreduce", "recursive_doubling_mpich"), None);
    assert_eq!(counterpart("allreduce", "ring_over", 32, 64), None, "less than an element a rank");
}

/// In PICO's archives, each data file is in the folder of its test, and all tests of a run have the
/// same timestamp. The metadata of Fugaku has the shape of a torus instead of a number of nodes.
#[test]
fn pico_metadata_is_joined_by_timestamp_and_test() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("results/fugaku/2025_03_26___19_49_06");
    std::fs::create_dir_all(run.join("4")).unwrap();
    let metadata = "timestamp,test_id,nnodes,tasks_per_node,collective_type\n\
                    2025_03_26___19_49_06,0,2x2x2,1,ALLREDUCE\n\
                    2025_03_26___19_49_06,4,2x2x2,1,ALLTOALL\n";
    std::fs::write(dir.path().join("results/fugaku_metadata.csv"), metadata).unwrap();
    let file = run.join("4/512_default-pairwise_int32.csv");
    let list = read_as(file.to_str().unwrap(), "highest\n27549\n", None).unwrap();
    let m = &list[0];
    assert_eq!((m.collective.as_str(), m.ranks, m.time_us), ("alltoall", Some(8), 27.549));
    assert_eq!(m.topology.as_deref(), Some("torus:2x2x2"));
    assert_eq!(m.algorithm.as_deref(), Some("default-pairwise"));
}

/// Some rows of PICO's archive of Fugaku (2x2x2), without those columns that the import ignores.
const SUMMARY: &str = "\
collective_type,array_dim,buffer_size,algo_name,median,nnodes,tasks_per_node,n_iter,percentile_25,percentile_75
ALLREDUCE,512,2048,default-recursive_doubling,12054.0,2x2x2,1,100,11999.5,12299.25
ALLTOALL,512,2048,default-pairwise,27549.0,4,2,100,27000.0,28000.0
";

#[test]
fn a_summary_of_pico_has_the_medians() {
    let list = read_as("aggregated_results_summary.csv", SUMMARY, None).unwrap();
    let m = &list[0];
    assert_eq!((m.collective.as_str(), m.size, m.ranks), ("allreduce", 2048, Some(8)));
    assert_eq!((m.time_us, m.line, m.topology.as_deref()), (12.054, 2, Some("torus:2x2x2")));
    assert_eq!(
        m.note,
        "default-recursive_doubling, median of 100, quartiles 11.9995 and 12.29925 us"
    );
    assert_eq!(
        (list[1].ranks, &list[1].topology, list[1].block_bytes(8)),
        (Some(8), &None, Ok(256))
    );
    for (from, to, why) in [
        ("12054.0", "fast", "line 2: median is `fast`, expected nanoseconds"),
        ("12054.0", "", "line 2: `median` is missing, expected nanoseconds"),
        ("2x2x2", "2xx2", "line 2: nnodes is `2xx2`, expected such as 64 or 4x4x4"),
        ("ALLREDUCE", "SCAN", "line 2: `SCAN` is not a known collective"),
        (",2048,default-r", ",2k,default-r", "line 2: buffer_size is `2k`, expected bytes"),
    ] {
        let error = read_as("s.csv", &SUMMARY.replacen(from, to, 1), None).unwrap_err();
        assert!(error.starts_with(why), "{from} -> {to}: {error}");
    }
}

#[test]
fn counterparts_have_limits() {
    let of = |name, ranks, bytes| counterpart("alltoall", name, ranks, bytes);
    assert_eq!(of("default-pairwise", 4096, 1 << 20), Some("gen"));
    assert_eq!(of("default-pairwise", 4096, TOO_LARGE), None);
    assert_eq!([512, 4096].map(|n| of("default-linear", n, 1 << 20)), [Some("linear"), None]);
    assert_eq!(counterpart("allreduce", "default-ring", 64, 128), None);
    assert_eq!(of("default-default", 8, 1024), None);
    // No algorithm of a library is listed twice.
    let names = || COUNTERPARTS.iter().map(|row| (row.collective, row.library));
    assert_eq!(names().collect::<std::collections::BTreeSet<_>>().len(), names().count());
}

#[test]
fn unknown_formats_are_refused() {
    assert!(
        read_as("a.txt", "hello\n", None)
            .unwrap_err()
            .contains("osu, imb, nccl-json, nccl, pico, pico-summary")
    );
    assert!(
        read_as("a.txt", "# OSU MPI Allgather Latency Test\n# Size  Latency\n", None)
            .unwrap_err()
            .starts_with("it has no measurement")
    );
}

//! `schedule:file=X.json` and `msccl:file=X.xml`: schedules of other programs are verified and
//! priced like those of plugins, and a fault names its position in the file.

use crate::support::{rows, swapmeet, words};
use swapmeet_results::{Record, Status};
use tempfile::tempdir;

fn row(topology: &str, workload: &str, file: &str) -> Record {
    let algorithm = format!("schedule:file={file}");
    rows(&["--topology", topology, "--workload", workload, "--algorithm", &algorithm]).remove(0)
}

/// Returns the columns that must be equal for a schedule and for a file that contains it. Columns
/// about the plugin, the inputs and the measured times are left out. So is `proved_on`, because all
/// nodes of a file are planned.
fn figures(row: &Record) -> Vec<String> {
    let planner =
        ["experiment", "algorithm", "plugin", "plugin_version", "plugin_digest", "inputs"];
    let skipped = [&planner[..], &["proved_on", "plan_ms", "wall_ms"]].concat();
    let named = swapmeet_results::columns().zip(row.fields());
    named
        .filter(|(name, _)| !skipped.contains(name))
        .map(|(name, field)| format!("{name}={field}"))
        .collect()
}

#[test]
fn an_exported_schedule_is_read_back_as_the_same_row() {
    let dir = tempdir().unwrap();
    for (topology, algorithm, workload) in [
        ("torus:4x4", "suh-shin", "uniform:64"),
        ("fully-connected:5", "bruck", "uniform:8"),
        ("ring:8", "torus-broadcast", "broadcast/uniform:64"),
        ("hypercube:3", "hypercube-scatter", "scatter/uniform:8,root=5"),
        ("mesh:3x3", "linear", "permutation/transpose-2d:8"),
    ] {
        let file = dir.path().join(format!("{algorithm}.json"));
        let file = file.to_str().unwrap();
        let line = format!(
            "export --format json --topology {topology} --algorithm {algorithm} \
            --workload {workload}"
        );
        let args = words(&line);
        swapmeet(&args).args(["--out", file]).assert().success();
        let planned =
            rows(&["--topology", topology, "--workload", workload, "--algorithm", algorithm])
                .remove(0);
        let read = row(topology, workload, file);
        assert_eq!(planned.status, Status::Ok, "{}", planned.reason);
        assert_eq!(figures(&read), figures(&planned), "{algorithm}");
        assert!(read.inputs.contains("sha256:"), "{}", read.inputs);
    }
}

const HANDWRITTEN: &str = r#"{"schedule":{"format":"swapmeet-schedule","version":1,"nodes":3,"collective":"allgather"},
"events":[
{"step":1,"from":0,"to":1,"copy":true,"blocks":[{"origins":[[0,0]]}]},
{"step":1,"from":1,"to":2,"copy":true,"blocks":[{"origins":[[1,1]]}],"label":"block 1 to its right"},
{"step":1,"from":2,"to":0,"copy":true,"blocks":[{"origins":[[2,2]]}]},
{"step":2,"from":0,"to":1,"copy":true,"blocks":[{"origins":[[2,2]]}]},
{"step":2,"from":1,"to":2,"copy":true,"blocks":[{"origins":[[0,0]]}],"label":"block 0, second hop"},
{"step":2,"from":2,"to":0,"copy":true,"blocks":[{"origins":[[1,1]]}]}
]}
"#;

#[test]
fn a_handwritten_schedule_is_verified_and_faults_print_its_labels() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("hand.json");
    let outcome = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let row = row("ring:3", "allgather/uniform:8", file.to_str().unwrap());
        (row.status, row.reason)
    };
    assert_eq!(outcome(HANDWRITTEN), (Status::Ok, String::new()));
    for (from, to, status, why) in [
        (
            "\"step\":2,\"from\":1,\"to\":2",
            "\"step\":1,\"from\":1,\"to\":2",
            Status::Error,
            "hand.json: step 1 comes after step 2 at line 7",
        ),
        ("[[1,1]]}],\"label\"", "[[0,0]]}],\"label\"", Status::Invalid, "[block 1 to its right]"),
        (
            "\"from\":2,\"to\":0,\"copy\":true,\"blocks\":[{\"origins\":[[1,1]]}]",
            "\"from\":2,\"to\":0,\"copy\":true,\"blocks\":[]",
            Status::Invalid,
            "never delivered to node 0",
        ),
        (
            "[[2,2]]",
            "[[2,3]]",
            Status::Error,
            "a run from 2 to 3, expected an origin below 3, the last not below the first at line 5",
        ),
        ("\"to\":1", "\"to\":9", Status::Invalid, "nodes 0 to 2 [step 1 of the file]"),
        (
            "\"nodes\":3",
            "\"nodes\":4",
            Status::Unsupported,
            "the file's schedule is for 4 nodes, but the topology has 3",
        ),
        (
            "allgather",
            "alltoall",
            Status::Unsupported,
            "the file's schedule does `alltoall`, not `allgather`",
        ),
        ("\"version\":1", "\"version\":7", Status::Error, "its version is 7, expected 1 at line 1"),
        ("]}\n", "", Status::Error, "hand.json: EOF while parsing"),
    ] {
        assert!(HANDWRITTEN.contains(from), "{from}");
        let (found, reason) = outcome(&HANDWRITTEN.replacen(from, to, 1));
        assert!(found == status && reason.contains(why), "{from} -> {to}: {found}: {reason}");
    }
}

/// Node 0 sends its sum before it has received the contribution of node 2. The fault must name this
/// send, not the node whose sum is incomplete at the end.
const PASSED_ON_EARLY: &str = r#"{"schedule":{"algorithm":"by hand","collective":"allreduce","format":"swapmeet-schedule","nodes":3,"version":1},
"events":[
{"step":1,"from":1,"to":0,"copy":true,"combine":true,"blocks":[{"origins":[[1,1]]}]},
{"step":2,"from":0,"to":1,"copy":true,"blocks":[{"origins":[[0,1]]}],"label":"the result"},
{"step":3,"from":2,"to":0,"copy":true,"combine":true,"blocks":[{"origins":[[2,2]]}]},
{"step":4,"from":0,"to":2,"copy":true,"blocks":[{"origins":[[0,2]]}]}
]}
"#;

#[test]
fn an_incomplete_sum_is_found_where_it_is_passed_on() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("early.json");
    let priced = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let row = row("ring:3", "allreduce/uniform:8", file.to_str().unwrap());
        (row.status, row.reason)
    };
    assert_eq!(
        priced(PASSED_ON_EARLY),
        (
            Status::Invalid,
            "step 2: node 0 passes on to node 1 a value without node 2's contribution to the vector (it is at node 0); \
             missing in total: 1 contribution at 1 node [the result]"
                .to_owned()
        )
    );
    let completed = PASSED_ON_EARLY.replace(
        "[[0,2]]}]}\n]",
        "[[0,2]]}]},\n{\"step\":5,\"from\":0,\"to\":1,\"copy\":true,\"blocks\":[{\"origins\":[[0,2]]}]}\n]",
    );
    assert_eq!(priced(&completed), (Status::Ok, String::new()));
}

/// If the contents of a file change, `--resume` does not accept the row of the case.
#[test]
fn a_file_that_has_changed_is_another_case() {
    let dir = tempdir().unwrap();
    let (file, out) = (dir.path().join("hand.json"), dir.path().join("rows.csv"));
    std::fs::write(&file, HANDWRITTEN).unwrap();
    let algorithm = format!("schedule:file={}", file.display());
    let line = format!(
        "run --topology ring:3 --workload allgather/uniform:8 --algorithm {algorithm} \
        --resume --out"
    );
    let args = words(&line);
    swapmeet(&args).arg(&out).assert().success();
    swapmeet(&args).arg(&out).assert().success();
    std::fs::write(&file, HANDWRITTEN.replace("second hop", "last hop")).unwrap();
    let changed = swapmeet(&args).arg(&out).output().unwrap();
    assert_eq!(changed.status.code(), Some(2), "{}", String::from_utf8_lossy(&changed.stderr));
    let missing =
        swapmeet(&["run", "--topology", "ring:3", "--algorithm", "schedule:file=no.json"])
            .output()
            .unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("`no.json` can't be read"));
}

/// Returns an MSCCL algorithm in which three GPUs in a ring send their blocks to both others.
fn msccl() -> String {
    let mut text = "<algo name=\"ring\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"3\" ngpus=\"3\" coll=\"allgather\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\">\n".to_owned();
    for gpu in 0..3 {
        let (next, last) = ((gpu + 1) % 3, (gpu + 2) % 3);
        text += &format!(
            "<gpu id=\"{gpu}\" i_chunks=\"1\" o_chunks=\"3\" s_chunks=\"0\">\n<tb id=\"0\" send=\"{next}\" recv=\"{last}\" chan=\"0\">\n"
        );
        for (s, (word, from, to)) in
            [("cpy", 0, gpu), ("s", 0, gpu), ("rcs", 0, last), ("r", 0, next)]
                .into_iter()
                .enumerate()
        {
            text += &format!(
                "<step s=\"{s}\" type=\"{word}\" srcbuf=\"i\" srcoff=\"{from}\" dstbuf=\"o\" dstoff=\"{to}\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
            );
        }
        text += "</tb>\n</gpu>\n";
    }
    text + "</algo>\n"
}

#[test]
fn an_msccl_ring_is_priced_as_a_ring() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("ring.xml");
    std::fs::write(&file, msccl()).unwrap();
    let algorithm = format!("msccl:file={}", file.display());
    let case =
        words("--topology ring:3 --workload allgather/uniform:64 --machine paragon --machine t3d");
    let read = rows(&[&case[..], &["--algorithm", &algorithm]].concat());
    let planned = rows(&[&case[..], &["--algorithm", "ring"]].concat());
    for (read, planned) in read.iter().zip(&planned) {
        assert_eq!(read.status, Status::Ok, "{}", read.reason);
        assert_eq!(figures(read), figures(planned));
    }
}

/// If the host finds the fault, its message names the send by the position in the file.
#[test]
fn a_wrong_msccl_algorithm_gives_a_row_with_the_position() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("ring.xml");
    let sound = msccl();
    for (from, to, status, why) in [
        (
            "type=\"rcs\"",
            "type=\"r\"",
            Status::Invalid,
            "ring.xml: line 15: GPU 1, thread block 0, step 3 has no matching send",
        ),
        (
            "dstoff=\"2\"",
            "dstoff=\"0\"",
            Status::Invalid,
            "ring.xml: line 2: GPU 0 ends with chunk 0 of GPU 2's block in output chunk 0, expected chunk 0 of GPU 0's block",
        ),
        (
            "ngpus=\"3\"",
            "ngpus=\"2\"",
            Status::Error,
            "ring.xml: line 1: ngpus=\"2\" and 3 GPUs, expected as many",
        ),
        ("allgather", "alltoall", Status::Unsupported, "the file's algorithm does `alltoall`"),
        ("</algo>", "", Status::Error, "ring.xml: line "),
    ] {
        assert!(sound.contains(from), "{from}");
        std::fs::write(&file, sound.replacen(from, to, 1)).unwrap();
        let algorithm = format!("msccl:file={}", file.display());
        let row = rows(&words(&format!(
            "--topology ring:3 --workload allgather/uniform:8 --algorithm {algorithm}"
        )))
        .remove(0);
        assert!(
            row.status == status && row.reason.contains(why),
            "{from} -> {to}: {}: {}",
            row.status,
            row.reason
        );
    }
    // A block is sent to the same receiver twice. This is valid for the buffers in the file, so
    // only the host finds it.
    let twice = "<algo name=\"t\" ngpus=\"2\" coll=\"alltoall\">
<gpu id=\"0\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"1\"><tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">
<step s=\"0\" type=\"cpy\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
<step s=\"1\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
<step s=\"3\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
</tb></gpu>
<gpu id=\"1\" i_chunks=\"2\" o_chunks=\"2\" s_chunks=\"1\"><tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">
<step s=\"0\" type=\"cpy\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
<step s=\"1\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
<step s=\"2\" type=\"r\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
<step s=\"3\" type=\"r\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>
</tb></gpu></algo>";
    std::fs::write(&file, twice).unwrap();
    let algorithm = format!("msccl:file={}", file.display());
    let row = rows(&["--topology", "ring:2", "--algorithm", &algorithm]).remove(0);
    let why = "step 2: block 0 -> 1 is delivered twice: node 1 already holds it [GPU 0, thread block 0, step 3, line 6]";
    assert_eq!((row.status, row.reason.as_str()), (Status::Invalid, why));
}

use crate::Workload;
use crate::args::{Args, CurveAxis, WORD};
use crate::generator::GENERATORS;
use crate::generator::permutation::PERMUTATIONS;
use crate::listed::Listed;
use std::sync::Arc;
use swapmeet_core::delivery::collective::COLLECTIVES;
use swapmeet_core::spec::{Arg, Spec, SpecError, format_size, near_matches};

pub(crate) fn parse(text: &str) -> Result<Workload, SpecError> {
    let spec = Spec::parse("workload", text)?;
    let (prefix, name) = spec.name().split_once('/').unwrap_or(("alltoall", spec.name()));
    let collective = COLLECTIVES.into_iter().find(|collective| collective.word == prefix);
    let words = COLLECTIVES.into_iter().map(|collective| collective.word);
    let collective = collective.ok_or_else(|| unknown(&spec, 0, "collective", prefix, words))?;
    let at = spec.name().len() - name.len();
    let rows = if collective.permutes() { PERMUTATIONS } else { GENERATORS };
    let kind = if collective.permutes() { "permutation" } else { "generator" };
    let row = rows.iter().find(|row| row.name == name);
    let row = row.ok_or_else(|| unknown(&spec, at, kind, name, rows.iter().map(|row| row.name)))?;
    if !row.fits(collective) {
        let fit: Vec<&str> =
            rows.iter().filter(|row| row.fits(collective)).map(|row| row.name).collect();
        let reason = match collective.has_tokens {
            true => "data consists of tokens with a set of receivers each",
            false => "blocks have no single destination on which sizes could depend",
        };
        let what = format!(
            "{} {}'s {reason}: use {}",
            collective.article(),
            collective.word,
            fit.join(" or ")
        );
        return Err(spec.error(at, name.len(), &what));
    }
    let mut args = Args::new(&spec, collective);
    if let Some(arg) = args.take("element") {
        args.element = match args.size(arg)? {
            0 => return Err(spec.bad_value(arg, "a size of at least 1")),
            bytes => bytes,
        };
    }
    let root = match if collective.is_rooted() { args.take("root") } else { None } {
        None => 0,
        Some(arg) => arg.value().parse().map_err(|_| spec.bad_value(arg, "a node's number"))?,
    };
    let skip_empty = match args.take("empty") {
        None => row.sized_by_pair,
        Some(arg) => match arg.value() {
            "send" => false,
            "skip" => true,
            _ => return Err(spec.bad_value(arg, "send or skip")),
        },
    };
    let (over, listed) = match args.take("over") {
        None => (None, None),
        Some(arg) => {
            let (over, listed) = axes(&spec, arg)?;
            (Some(over), listed)
        }
    };
    let pattern = (row.read)(&mut args)?;
    args.finish(row.keys)?;
    let element = args.element;
    let common = [
        ("over", over.clone().unwrap_or_default(), over.is_none()),
        ("root", root.to_string(), root == 0),
        ("element", format_size(element), element == 1),
        (
            "empty",
            if skip_empty { "skip" } else { "send" }.to_owned(),
            skip_empty == row.sized_by_pair,
        ),
    ];
    let common =
        common.into_iter().filter(|(.., is_default)| !is_default).map(|(key, text, _)| (key, text));
    let arguments = pattern.arguments().into_iter().chain(common);
    let printed: Vec<String> = arguments
        .map(|(key, text)| if key == WORD { text } else { format!("{key}={text}") })
        .collect();
    let colon = if printed.is_empty() { "" } else { ":" };
    let prefix = if prefix == "alltoall" { String::new() } else { format!("{prefix}/") };
    let spec = format!("{prefix}{name}{colon}{}", printed.join(","));
    let mut workload = Workload {
        spec: spec.into(),
        shape: None,
        collective,
        generator: row,
        pattern,
        replicate: 0,
        root,
        element,
        skip_empty,
        over,
        listed: listed.map(Arc::new),
    };
    if workload.counts_blocks() {
        workload.shape = CurveAxis::BlockSize.split(&workload.spec).map(|(_, shape)| shape.into());
    }
    Ok(workload)
}

fn axes(spec: &Spec, arg: &Arg) -> Result<(String, Option<Listed>), SpecError> {
    let value = arg.value();
    if let Some(file) = value.strip_prefix("file:").filter(|file| !file.is_empty()) {
        let listed = Listed::read(file)
            .map_err(|why| spec.error(arg.value_at(), value.len(), &format!("{file}: {why}")))?;
        return Ok((value.to_owned(), Some(listed)));
    }
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let is_valid = match value.strip_prefix("size:") {
        Some(size) => size.parse().is_ok_and(|size: u64| size > 0),
        None => value.split('+').all(is_name),
    };
    let expected = "axes of the topology's mesh, as in `dp` or `dp+cp`, a number of ranks, as in `size:64`, or a file with the ranks of each communicator, as in `file:F`";
    if is_valid { Ok((value.to_owned(), None)) } else { Err(spec.bad_value(arg, expected)) }
}

fn unknown<'a>(
    spec: &Spec,
    at: usize,
    kind: &str,
    word: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> SpecError {
    let mut error = spec.error(at, word.len(), &format!("unknown {kind} `{word}`"));
    error.near = near_matches(word, known.clone());
    if error.near.is_empty() {
        error.message += &format!(", expected one of {}", known.collect::<Vec<_>>().join(", "));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators;
    use std::sync::Arc;
    use swapmeet_core::delivery::collective::ALL_TO_ALL;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    fn table(text: &str) -> impl Iterator<Item = (&str, &str)> {
        text.lines().map(|line| line.trim().split_once(" => ").unwrap())
    }

    fn ring(nodes: u64) -> Arc<swapmeet_core::network::topology::Network> {
        swapmeet_core::network::topology::parse(&format!("ring:{nodes}")).unwrap()
    }

    #[test]
    fn specs_have_one_canonical_form() {
        for (given, printed) in table(
            "uniform:64 => uniform:64
             uniform:64B => uniform:64
             alltoall/uniform:4096 => uniform:4KiB
             gather/uniform:0 => gather/uniform:0
             uniform:64,element=8 => uniform:64,element=8
             one-spike:rest=8,max=1024 => one-spike:max=1KiB,rest=8
             scatter/transpose:max=1KiB,rest=0 => scatter/transpose:max=1KiB,rest=0
             irregular:mean=512,dist=lognormal,cv=2.0 => irregular:dist=lognormal,mean=512,cv=2
             irregular:dist=exponential,mean=1MiB,cv=1.0 => irregular:dist=exponential,mean=1MiB
             irregular:dist=zipf,density=1,exponent=1.0,mean=8 => irregular:dist=zipf,mean=8
             irregular:density=0.1,dist=zipf,exponent=2,mean=8 => irregular:dist=zipf,mean=8,exponent=2,density=0.1
             irregular:density=.5,dist=exponential,mean=8 => irregular:dist=exponential,mean=8,density=0.5
             hot:share=0.50,receivers=2,mean=1024 => hot:receivers=2,share=0.5,mean=1KiB
             moe:bytes=7168,experts=64,top=8,tokens=128,skew=0 => moe:experts=64,top=8,tokens=128,bytes=7KiB
             moe:bytes=8,violation=2,experts=64,top=8,tokens=128,experts_at=cyclic => moe:experts=64,top=8,tokens=128,bytes=8,violation=2,experts_at=cyclic
             birkhoff => birkhoff
             birkhoff:bytes=1024KiB,spread=0 => birkhoff
             uniform:0,empty=send => uniform:0
             uniform:empty=skip,0 => uniform:0,empty=skip
             one-spike:max=8,rest=0,empty=skip => one-spike:max=8,rest=0
             one-spike:max=8,rest=0,empty=send,element=8 => one-spike:max=8,rest=0,element=8,empty=send
             broadcast/uniform:root=3,64 => broadcast/uniform:64,root=3
             gather/one-spike:root=00,max=8,rest=1,element=1B => gather/one-spike:max=8,rest=1
             scatter/uniform:64,element=8,root=7 => scatter/uniform:64,root=7,element=8
             permutation/transpose-2d:64B => permutation/transpose-2d:64
             permutation/transpose-1d:axis=0,64 => permutation/transpose-1d:64
             permutation/transpose-1d:64,axis=2 => permutation/transpose-1d:64,axis=2
             permutation/translate:by=3x-9x007,4096,element=8 => permutation/translate:4KiB,by=3x-9x7,element=8
             permutation/shear-2d:8,by=1 => permutation/shear-2d:8
             permutation/axes:8,to=z.-y.x => permutation/axes:8,to=z.-y.x",
        ) {
            let workload = parse(given).unwrap();
            assert_eq!(workload.to_string(), printed);
            assert_eq!(parse(printed).unwrap(), workload);
        }
    }

    #[test]
    fn unknown_names_have_suggestions() {
        assert_eq!(
            error("unifrom:64"),
            "workload `unifrom:64`: unknown generator `unifrom`; did you mean `uniform`?"
        );
        assert_eq!(
            error("brodcast/uniform:64"),
            "workload `brodcast/uniform:64`: unknown collective `brodcast`; did you mean `broadcast`?"
        );
        let names: Vec<&str> = generators(&ALL_TO_ALL).map(|row| row.name).collect();
        assert_eq!(
            error("zipf:2"),
            format!(
                "workload `zipf:2`: unknown generator `zipf`, expected one of {}",
                names.join(", ")
            )
        );
    }

    #[test]
    fn unknown_permutations_have_suggestions() {
        assert_eq!(
            error("permutation/rotate-80:8"),
            "workload `permutation/rotate-80:8`: unknown permutation `rotate-80`; did you mean `rotate-180` or `rotate-90` or `rotate-270`?"
        );
        assert!(
            error("permutation/uniform:8")
                .contains("unknown permutation `uniform`, expected one of transpose-1d, ")
        );
    }

    #[test]
    fn arguments_are_checked_one_by_one() {
        let after = |text: &str| error(text).split_once("`: ").unwrap().1.to_owned();
        for (spec, message) in table(
            "uniform => expected a size, as in `uniform:64`
             uniform:2000GiB => expected a size of at most 1024GiB for each pair, found `2000GiB`
             uniform:63,element=8 => expected a multiple of the element, 8 bytes, found `63`
             uniform:64,element=0 => element: expected a size of at least 1, found `0`
             uniform:64,size=8 => unknown key `size`, expected one of element, empty, over
             uniform:64,root=3 => unknown key `root`, expected one of element, empty, over
             gather/uniform:64,size=8 => unknown key `size`, expected one of root, element, empty, over
             gather/uniform:64,root=-1 => root: expected a node's number, found `-1`
             uniform:64,empty=yes => empty: expected send or skip, found `yes`
             one-spike:max=8 => `rest=` is missing
             permutation/translate:8 => `by=` is missing
             permutation/translate:8,by=3y4 => by: expected distances, as in `3x-9x7`, or one for all axes, found `3y4`
             permutation/axes:8,to=x.x => to: expected each of x, y, .. once, as in `y.-x.z`, found `x.x`
             permutation/axes:8,to=x.z => to: expected each of x, y, .. once, as in `y.-x.z`, found `x.z`
             permutation/transpose-1d:8,axis=-1 => axis: expected a dimension's number from 0 to 31, found `-1`
             permutation/shear-2d:8,by=x => by: expected a whole number, as in `2`, found `x`
             permutation/reflect:8,by=1 => unknown key `by`, expected one of element, empty, over
             permutation/reflect => expected a size, as in `permutation/transpose-2d:64`
             transpose:max=8,rest=1,most=3 => unknown key `most`, expected one of max, rest, element, empty, over
             irregular:dist=lognorm,mean=8,cv=1 => dist: expected one of uniform, exponential, lognormal, pareto, bimodal, zipf, found `lognorm`; did you mean `lognormal`?
             irregular:dist=pareto,mean=8 => `cv=` is missing
             irregular:dist=zipf,mean=8,cv=1 => sizes of dist=zipf have an `exponent` instead of a `cv`
             irregular:dist=pareto,mean=8,cv=1,exponent=1 => sizes of dist=pareto have a `cv` instead of an `exponent`
             irregular:dist=zipf,mean=8,density=2 => density: expected a number from 0 to 1, found `2`
             hot:receivers=0,share=0.5,mean=8 => receivers: expected a whole number from 1 to 4294967295, found `0`
             moe:experts=4,top=5,tokens=1,bytes=8 => top: expected a whole number from 1 to 4, found `5`
             moe:experts=4,top=2,tokens=1,bytes=8,skew=1,violation=1 => violation: expected skew or violation, not both, found `1`
             moe:experts=4,top=2,tokens=1,bytes=8,experts_at=random => experts_at: expected block or cyclic, found `random`
             irregular:dist=uniform,mean=8,cv=0.9 => cv: expected a number from 0 to 0.5773: with more, sizes would be negative or meaningless, found `0.9`
             dispatch/uniform:8 => a dispatch's data consists of tokens with a set of receivers each: use moe or tokens
             allgather/one-spike:max=8,rest=1 => an allgather's blocks have no single destination on which sizes could depend: use uniform or irregular or matrix or fractions",
        ) {
            assert_eq!(after(spec), message);
        }
        assert!(after("uniform:2TiB").starts_with("expected a size such as 64,"));
        assert!(after("one-spike:max=-8,rest=1").starts_with("max: expected a size such as 64,"));
        assert!(after("irregular:dist=pareto,mean=8,cv=x").contains("found `x`"));
        assert!(after("matrix:no-such-file.csv").starts_with("can't be read: "));
        assert!(after("matrix:/dev/zero").ends_with("expected a file of sizes"));
    }

    #[test]
    fn blocks_are_counted_unless_empty_ones_are_skipped() {
        let task = |text: &str| parse(text).unwrap().task(&ring(4), 0).unwrap();
        let seen = |text: &str| (task(text).sizes.is_some(), task(text).skip_empty);
        assert_eq!([seen("uniform:0"), seen("uniform:8,empty=skip")], [(false, false); 2]);
        assert_eq!(seen("broadcast/uniform:0,empty=skip"), (true, true));
        assert_eq!(seen("one-spike:max=8,rest=0"), (true, true));
        assert_eq!(seen("one-spike:max=8,rest=0,empty=send"), (true, false));
    }

    #[test]
    fn workloads_that_differ_in_block_size_have_the_same_shape() {
        let alike = |a: &str, b: &str| parse(a).unwrap().same_shape(&parse(b).unwrap());
        assert!(
            alike("uniform:8", "uniform:0")
                && alike("permutation/shear-2d:8,by=2", "permutation/shear-2d:1,by=2")
        );
        assert!(
            !alike("uniform:8", "uniform:8,element=8")
                && !alike("gather/uniform:8", "gather/uniform:8,root=1")
        );
        assert!(
            !alike("permutation/shear-2d:8,by=2", "permutation/shear-2d:8"),
            "another permutation"
        );
        assert!(
            !alike("uniform:8,empty=skip", "uniform:0,empty=skip"),
            "empty blocks make another schedule"
        );
        assert!(!alike("one-spike:max=8,rest=1", "one-spike:max=9,rest=1"));
    }

    #[test]
    fn a_matrix_is_read_from_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("m.csv");
        let spec = format!("matrix:{}", file.display());
        std::fs::write(&file, "0,1\n2,0\n").unwrap();
        let workload = parse(&spec).unwrap();
        assert_eq!(workload.to_string(), spec);
        assert_eq!(workload.task(&ring(2), 0).unwrap().sizes.unwrap().bytes(1, 0), 2);
        assert_eq!(
            workload.task(&ring(4), 0).unwrap_err(),
            format!("`{spec}` is for 2 nodes, there are 4")
        );
        std::fs::write(&file, "0,1\n2,many\n").unwrap();
        assert!(error(&spec).ends_with(
            "m.csv:2:2: `many` is not a byte count, expected a whole number from 0 to 1099511627776"
        ));
    }

    /// The size of a block for all nodes is on the diagonal of the matrix, or the file has one
    /// number for each node.
    #[test]
    fn blocks_for_all_nodes_have_sizes_by_origin() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("v.csv");
        let sizes = |collective: &str, content: &str| {
            std::fs::write(&file, content).unwrap();
            let workload = parse(&format!("{collective}/matrix:{}", file.display())).unwrap();
            let task = workload.task(&ring(3), 0).unwrap();
            let sizes = task.sizes.unwrap();
            (0..3)
                .map(|o| (0..3).map(|d| sizes.bytes(o, d)).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        let by_origin = [[1; 3], [20; 3], [300; 3]];
        assert_eq!(sizes("allgather", "1,7,7\n7,20,7\n7,7,300\n"), by_origin);
        assert_eq!(sizes("broadcast", "1\n20\n300\n"), by_origin);
        assert_eq!(sizes("gather", "1,20,300\n"), by_origin);
        assert_eq!(sizes("scatter", "1,20,300\n"), [[1, 20, 300]; 3]);
        let spec = format!("matrix:{}", file.display());
        assert!(
            error(&spec)
                .ends_with("v.csv:1:1: 1 rows and 3 columns, expected the same number of each")
        );
        assert!(error(&format!("reduce/{spec}")).contains("sizes could depend: use uniform"));
        let drawn = |spec: &str| parse(spec).unwrap().task(&ring(3), 42).unwrap().sizes.unwrap();
        let (all, own) = (
            drawn("irregular:dist=uniform,mean=1000,cv=0.5"),
            drawn("allgather/irregular:dist=uniform,mean=1000,cv=0.5"),
        );
        assert!(
            (0..3).all(|node| own.bytes(node, 1) == all.bytes(0, node)),
            "as what node 0 has for each"
        );
    }

    #[test]
    fn files_of_a_pattern_are_repetitions_sorted_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in [("b.csv", 2), ("a.csv", 1), ("c.txt", 9), ("a10.csv", 3)] {
            std::fs::write(dir.path().join(name), format!("0,{bytes}\n0,0\n")).unwrap();
        }
        let spec = format!("matrix:{}/*.csv", dir.path().display());
        let all = Arc::new(parse(&spec).unwrap());
        assert_eq!((all.to_string(), all.replicates()), (spec.clone(), Some(3)));
        let bytes = |r| {
            all.replicate(r).map(|one| one.task(&ring(2), 0).unwrap().sizes.unwrap().bytes(0, 1))
        };
        assert_eq!([bytes(0), bytes(1), bytes(2)], [Ok(1), Ok(3), Ok(2)]);
        assert_eq!(bytes(3), Err(format!("`{spec}` has 3 files, none for repetition 3")));
        let first = all.replicate(0).unwrap();
        assert!(
            first != all.replicate(1).unwrap()
                && first.to_string() == spec
                && first.inputs().eq(all.inputs())
        );
        assert_eq!(
            all.task(&ring(2), 0).unwrap_err(),
            format!("`{spec}` is 3 files, one for each repetition: name one of them")
        );
        std::fs::write(dir.path().join("b.csv"), "0,5\n0,0\n").unwrap();
        assert!(parse(&spec).unwrap().inputs().ne(all.inputs()));
    }

    #[test]
    fn errors_in_file_patterns_are_explained() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().display();
        assert!(
            error(&format!("matrix:{at}/*.csv"))
                .ends_with("no file matches, expected one for each repetition")
        );
        assert!(
            error(&format!("matrix:{at}*/m.csv"))
                .ends_with("expected a single `*`, in the name of the file, as in `DIR/*.csv`")
        );
        assert!(error("matrix:no-such-folder/*.csv").contains("can't be read: "));
        std::fs::write(dir.path().join("m.csv"), "0,x\n0,0\n").unwrap();
        assert!(
            error(&format!("matrix:{at}/*.csv")).contains("m.csv:1:2: `x` is not a byte count")
        );
    }

    /// Fractions apply as in nccl-tests: of 256 MiB, a fraction of 0.5 is 128 MiB.
    #[test]
    fn fractions_apply_to_the_given_size() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f.csv");
        std::fs::write(&file, "0,0.5\n1,0.001\n").unwrap();
        let spec = format!("fractions:{},bytes=256MiB", file.display());
        let sizes = parse(&spec).unwrap().task(&ring(2), 0).unwrap().sizes.unwrap();
        assert_eq!(
            [sizes.bytes(0, 1), sizes.bytes(1, 0), sizes.bytes(1, 1)],
            [128 << 20, 256 << 20, 268_435]
        );
        assert_eq!(parse(&spec).unwrap().to_string(), spec);
        std::fs::write(&file, "0,0.5\n1,1.5\n").unwrap();
        assert!(
            error(&spec)
                .ends_with("f.csv:2:2: `1.5` is not a fraction, expected a number from 0 to 1")
        );
    }

    #[test]
    fn impossible_tasks_are_explained() {
        let refused = |spec: &str, nodes| parse(spec).unwrap().task(&ring(nodes), 1).unwrap_err();
        assert_eq!(
            refused("transpose:max=8,rest=1", 12),
            "`transpose:max=8,rest=1` needs a square number of nodes, there are 12"
        );
        assert_eq!(
            refused("irregular:dist=exponential,mean=8", 10_000),
            "`irregular:dist=exponential,mean=8` has a size for every pair: at most 8192 nodes, there are 10000"
        );
        assert_eq!(
            refused("broadcast/uniform:8,root=12", 12),
            "`broadcast/uniform:8,root=12` has its root at node 12, there are 12 nodes"
        );
        assert_eq!(
            refused("one-spike:max=1024GiB,rest=1", 1 << 20),
            "`one-spike:max=1024GiB,rest=1` among 1048576 nodes: blocks of up to 1099511627776 bytes add up beyond 2^63"
        );
    }
}

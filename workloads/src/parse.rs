//! From a spec to a workload.

use crate::file::read_regular;
use crate::fingerprint::fingerprint;
use crate::irregular::{Distribution, Shape};
use crate::matrix::Matrix;
use crate::permutation::{PERMUTATIONS, Permutation};
use crate::{COLLECTIVES, Sizes, Workload, generators};
use std::path::Path;
use std::sync::Arc;
use swapmeet_core::spec::{Arg, Spec, SpecError, near_matches, parse_size};

pub(crate) fn parse(text: &str) -> Result<Workload, SpecError> {
    let spec = Spec::parse("workload", text)?;
    let (collective, name) = match spec.name().split_once('/') {
        None => ("alltoall", spec.name()),
        Some((prefix, name)) => match COLLECTIVES.iter().find(|(word, _)| *word == prefix) {
            Some((word, _)) => (*word, name),
            None => return Err(unknown(&spec, 0, "collective", prefix, COLLECTIVES.iter().map(|(word, _)| *word))),
        },
    };
    let at = spec.name().len() - name.len();
    let mut args = Args { spec: &spec, left: spec.args().iter().collect() };
    let element = match args.take("element") {
        None => 1,
        Some(arg) => match size(&spec, arg)? {
            0 => return Err(spec.bad_value(arg, "a size of at least 1")),
            bytes => bytes,
        },
    };
    if collective == "permutation" {
        return permutation(&spec, name, args, element);
    }
    let sizes = match name {
        "uniform" => {
            let arg = args.word("a size, as in `uniform:64`")?;
            Sizes::Uniform { bytes: whole_elements(&spec, arg, element)? }
        }
        "one-spike" => {
            let (max, rest) = args.max_and_rest(element)?;
            Sizes::OneSpike { max, rest }
        }
        "transpose" => {
            let (max, rest) = args.max_and_rest(element)?;
            Sizes::Transpose { max, rest }
        }
        "irregular" => Sizes::Irregular(args.distribution()?),
        "matrix" => {
            let arg = args.word("a file, as in `matrix:sizes.csv`")?;
            let refused = |message: String| spec.error(arg.value_at(), arg.value().len(), &message);
            let content =
                read_regular(Path::new(arg.value()), Matrix::MOST_TEXT, "a file of sizes").map_err(refused)?;
            let matrix = Matrix::parse(&content)
                .map_err(|e| refused(format!("{}:{}:{}: {}", arg.value(), e.line, e.column, e.message)))?;
            let fingerprint = fingerprint(arg.value(), &content);
            Sizes::Matrix { file: arg.value().to_owned(), matrix: Arc::new(matrix), fingerprint }
        }
        other => return Err(unknown(&spec, at, "generator", other, generators().iter().map(|g| g.name))),
    };
    args.nothing_left(name)?;
    if !matches!(sizes, Sizes::Uniform { .. }) && matches!(collective, "broadcast" | "allgather") {
        let article = if collective == "allgather" { "an" } else { "a" };
        let what = format!("{article} {collective}'s blocks have no destination for sizes to depend on: use `uniform`");
        return Err(spec.error(at, name.len(), &what));
    }
    Ok(Workload { collective, permutation: None, sizes, element })
}

/// `permutation/NAME:SIZE`, with the permutation's own argument.
fn permutation(spec: &Spec, name: &str, mut args: Args<'_>, element: u64) -> Result<Workload, SpecError> {
    let permutation = Permutation::parse(spec, name, |key| args.take(key))?.ok_or_else(|| {
        let names = PERMUTATIONS.iter().map(|(known, ..)| *known);
        unknown(spec, spec.name().len() - name.len(), "permutation", name, names)
    })?;
    let arg = args.word("a size, as in `permutation/transpose-2d:64`")?;
    let sizes = Sizes::Uniform { bytes: whole_elements(spec, arg, element)? };
    args.nothing_left(name)?;
    Ok(Workload { collective: "permutation", permutation: Some(permutation), sizes, element })
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

fn size(spec: &Spec, arg: &Arg) -> Result<u64, SpecError> {
    let bytes = parse_size(arg.value()).map_err(|expected| spec.bad_value(arg, &expected))?;
    if bytes > Matrix::MOST_BYTES {
        return Err(spec.bad_value(arg, "a size of at most 1024GiB a pair"));
    }
    Ok(bytes)
}

fn whole_elements(spec: &Spec, arg: &Arg, element: u64) -> Result<u64, SpecError> {
    let bytes = size(spec, arg)?;
    if !bytes.is_multiple_of(element) {
        return Err(spec.bad_value(arg, &format!("a multiple of the element, {element} bytes")));
    }
    Ok(bytes)
}

/// Arguments not yet looked at.
struct Args<'a> {
    spec: &'a Spec,
    left: Vec<&'a Arg>,
}

impl<'a> Args<'a> {
    fn take(&mut self, key: &str) -> Option<&'a Arg> {
        let at = self.left.iter().position(|a| a.key() == Some(key))?;
        Some(self.left.remove(at))
    }

    fn require(&mut self, key: &str) -> Result<&'a Arg, SpecError> {
        let missing = || self.spec.error(0, self.spec.name().len(), &format!("`{key}=` is missing"));
        let missing = missing();
        self.take(key).ok_or(missing)
    }

    fn word(&mut self, expected: &str) -> Result<&'a Arg, SpecError> {
        match self.left.iter().position(|a| a.key().is_none()) {
            Some(at) => Ok(self.left.remove(at)),
            None => Err(self.spec.error(0, self.spec.name().len(), &format!("expected {expected}"))),
        }
    }

    fn max_and_rest(&mut self, element: u64) -> Result<(u64, u64), SpecError> {
        let (max, rest) = (self.require("max")?, self.require("rest")?);
        Ok((whole_elements(self.spec, max, element)?, whole_elements(self.spec, rest, element)?))
    }

    fn distribution(&mut self) -> Result<Distribution, SpecError> {
        let (dist, mean) = (self.require("dist")?, self.require("mean")?);
        let names = Shape::ALL.map(|(_, name)| name);
        let shape = Shape::ALL.iter().find(|(_, name)| *name == dist.value()).map(|(shape, _)| *shape);
        let shape = shape.ok_or_else(|| {
            let mut error = self.spec.bad_value(dist, &format!("one of {}", names.join(", ")));
            error.near = near_matches(dist.value(), names);
            error
        })?;
        let bytes = size(self.spec, mean)?;
        let cv = match self.take("cv") {
            None if shape == Shape::Exponential => {
                return Distribution::new(shape, bytes as f64, 1.0).map_err(|e| self.spec.bad_value(dist, &e));
            }
            None => return Err(self.spec.error(0, self.spec.name().len(), "`cv=` is missing")),
            Some(arg) => arg,
        };
        let number = cv.value().parse::<f64>().unwrap_or(f64::NAN);
        Distribution::new(shape, bytes as f64, number).map_err(|expected| self.spec.bad_value(cv, &expected))
    }

    fn nothing_left(&self, name: &str) -> Result<(), SpecError> {
        let Some(extra) = self.left.first() else { return Ok(()) };
        let keys: &[&str] = match name {
            "one-spike" | "transpose" => &["max", "rest", "element"],
            "irregular" => &["dist", "mean", "cv", "element"],
            "transpose-1d" => &["axis", "element"],
            "translate" | "shear-2d" => &["by", "element"],
            "axes" => &["to", "element"],
            _ => &["element"],
        };
        Err(self.spec.unknown_key(extra, keys.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    fn ring(nodes: u64) -> Arc<dyn swapmeet_core::network::topology::Topology> {
        swapmeet_core::network::topology::parse(&format!("ring:{nodes}")).unwrap()
    }

    #[test]
    fn specs_print_in_one_form() {
        for (given, printed) in [
            ("uniform:64", "uniform:64"),
            ("uniform:64B", "uniform:64"),
            ("alltoall/uniform:4096", "uniform:4KiB"),
            ("gather/uniform:0", "gather/uniform:0"),
            ("uniform:64,element=8", "uniform:64,element=8"),
            ("one-spike:rest=8,max=1024", "one-spike:max=1KiB,rest=8"),
            ("scatter/transpose:max=1KiB,rest=0", "scatter/transpose:max=1KiB,rest=0"),
            ("irregular:mean=512,dist=lognormal,cv=2.0", "irregular:dist=lognormal,mean=512,cv=2"),
            ("irregular:dist=exponential,mean=1MiB", "irregular:dist=exponential,mean=1MiB,cv=1"),
            ("permutation/transpose-2d:64B", "permutation/transpose-2d:64"),
            ("permutation/transpose-1d:axis=0,64", "permutation/transpose-1d:64"),
            ("permutation/transpose-1d:64,axis=2", "permutation/transpose-1d:64,axis=2"),
            ("permutation/translate:by=3x-9x007,4096,element=8", "permutation/translate:4KiB,by=3x-9x7,element=8"),
            ("permutation/shear-2d:8,by=1", "permutation/shear-2d:8"),
            ("permutation/axes:8,to=z.-y.x", "permutation/axes:8,to=z.-y.x"),
        ] {
            let workload = parse(given).unwrap();
            assert_eq!(workload.to_string(), printed);
            assert_eq!(parse(printed).unwrap(), workload);
        }
    }

    #[test]
    fn unknown_names_come_with_near_ones() {
        assert_eq!(error("unifrom:64"), "workload `unifrom:64`: unknown generator `unifrom`; did you mean `uniform`?");
        assert_eq!(
            error("brodcast/uniform:64"),
            "workload `brodcast/uniform:64`: unknown collective `brodcast`; did you mean `broadcast`?"
        );
        assert_eq!(
            error("zipf:2"),
            "workload `zipf:2`: unknown generator `zipf`, expected one of uniform, one-spike, transpose, irregular, matrix"
        );
    }

    #[test]
    fn an_unknown_permutation_comes_with_near_ones() {
        assert_eq!(
            error("permutation/rotate-80:8"),
            "workload `permutation/rotate-80:8`: unknown permutation `rotate-80`; did you mean `rotate-180` or `rotate-90` or `rotate-270`?"
        );
        assert!(
            error("permutation/uniform:8").contains("unknown permutation `uniform`, expected one of transpose-1d, ")
        );
    }

    #[test]
    fn arguments_are_checked_one_by_one() {
        let after = |text: &str| error(text).split_once("`: ").unwrap().1.to_owned();
        assert_eq!(after("uniform"), "expected a size, as in `uniform:64`");
        assert_eq!(after("uniform:2TiB"), "expected a size such as 64, 64B, 4KiB or 1MiB, found `2TiB`");
        assert_eq!(after("uniform:2000GiB"), "expected a size of at most 1024GiB a pair, found `2000GiB`");
        assert_eq!(after("uniform:63,element=8"), "expected a multiple of the element, 8 bytes, found `63`");
        assert_eq!(after("uniform:64,element=0"), "element: expected a size of at least 1, found `0`");
        assert_eq!(after("uniform:64,size=8"), "unknown key `size`, expected one of element");
        assert_eq!(after("one-spike:max=8"), "`rest=` is missing");
        assert_eq!(after("one-spike:max=-8,rest=1"), "max: expected a size such as 64, 64B, 4KiB or 1MiB, found `-8`");
        assert_eq!(after("permutation/translate:8"), "`by=` is missing");
        assert_eq!(
            after("permutation/translate:8,by=3y4"),
            "by: expected distances, as in `3x-9x7`, or one for all axes, found `3y4`"
        );
        assert_eq!(
            after("permutation/axes:8,to=x.x"),
            "to: expected each of x, y, .. once, as in `y.-x.z`, found `x.x`"
        );
        assert_eq!(
            after("permutation/axes:8,to=x.z"),
            "to: expected each of x, y, .. once, as in `y.-x.z`, found `x.z`"
        );
        assert_eq!(
            after("permutation/transpose-1d:8,axis=-1"),
            "axis: expected a dimension's number from 0 to 31, found `-1`"
        );
        assert_eq!(after("permutation/shear-2d:8,by=x"), "by: expected a whole number, as in `2`, found `x`");
        assert_eq!(after("permutation/reflect:8,by=1"), "unknown key `by`, expected one of element");
        assert_eq!(after("permutation/reflect"), "expected a size, as in `permutation/transpose-2d:64`");
        assert_eq!(after("transpose:max=8,rest=1,most=3"), "unknown key `most`, expected one of max, rest, element");
        assert_eq!(
            after("irregular:dist=lognorm,mean=8,cv=1"),
            "dist: expected one of uniform, exponential, lognormal, pareto, bimodal, found `lognorm`; did you mean `lognormal`?"
        );
        assert_eq!(after("irregular:dist=pareto,mean=8"), "`cv=` is missing");
        assert_eq!(
            after("irregular:dist=uniform,mean=8,cv=0.9"),
            "cv: expected a number from 0 to 0.5773: with more, sizes would be negative (or mean nothing), found `0.9`"
        );
        assert!(after("irregular:dist=pareto,mean=8,cv=x").contains("found `x`"));
        assert_eq!(
            after("allgather/one-spike:max=8,rest=1"),
            "an allgather's blocks have no destination for sizes to depend on: use `uniform`"
        );
        assert!(after("matrix:no-such-file.csv").starts_with("can't be read: "));
        assert_eq!(after("matrix:/dev/zero"), "is a folder or a device, expected a file of sizes");
    }

    #[test]
    fn a_matrix_is_read_from_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("m.csv");
        let spec = format!("matrix:{}", file.display());
        std::fs::write(&file, "0,1\n2,0\n").unwrap();
        let workload = parse(&spec).unwrap();
        assert_eq!(workload.to_string(), spec);
        assert_eq!(workload.traffic(ring(2).as_ref(), 0).unwrap().sizes.unwrap().bytes(1, 0), 2);
        assert_eq!(workload.traffic(ring(4).as_ref(), 0).unwrap_err(), format!("`{spec}` is for 2 nodes, there are 4"));
        std::fs::write(&file, "0,1\n2,many\n").unwrap();
        assert!(
            error(&spec)
                .ends_with("m.csv:2:2: `many` is no byte count, expected a whole number from 0 to 1099511627776")
        );
    }

    #[test]
    fn demands_that_cannot_be_say_why() {
        let refused = |spec: &str, nodes| parse(spec).unwrap().traffic(ring(nodes).as_ref(), 1).unwrap_err();
        assert_eq!(
            refused("transpose:max=8,rest=1", 12),
            "`transpose:max=8,rest=1` needs a square number of nodes, to be transposed as an array; there are 12"
        );
        assert_eq!(
            refused("irregular:dist=exponential,mean=8", 10_000),
            "`irregular:dist=exponential,mean=8,cv=1` has a size for every pair: at most 8192 nodes, there are 10000"
        );
        assert_eq!(
            refused("one-spike:max=1024GiB,rest=1", 1 << 20),
            "`one-spike:max=1024GiB,rest=1` among 1048576 nodes: blocks of up to 1099511627776 bytes add up beyond 2^63"
        );
    }
}

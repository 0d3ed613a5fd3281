//! Permutations of the nodes of a grid: each node sends its one block to one node, its *image* (C.
//! C. Spencer, *Circuit-Switched Structured Communications on Toroidal Meshes*, 1994). In
//! coordinates (x, y, z, ..), x belongs to the first dimension. In a permutation of the axes, such
//! as (x, y) to (y, -x), -x means -1 - x modulo n. The mirror is thus between the nodes n - 1 and
//! 0, and no node of a dimension of even size is its own image. Axes that are exchanged must have
//! the same size.

use super::{Generator, Pattern};
use crate::args::{Args, CurveAxis, WORD};
use std::sync::Arc;
use swapmeet_core::delivery::collective::BlockSizes;
use swapmeet_core::network::topology::strides;
use swapmeet_core::spec::{SpecError, format_size};

pub(crate) static PERMUTATIONS: &[Generator] = &[
    Generator {
        keys: &[WORD, "axis"],
        ..row(
            "transpose-1d",
            "transpose-1d:SIZE,axis=A",
            "(x, ..) to (-x, ..), or the same for axis A, where 0 is the first axis",
            mirrored,
        )
    },
    row("transpose-2d", "transpose-2d:SIZE", "(x, y) to (y, x): the main diagonal", |args| {
        fixed("y.x", args)
    }),
    row(
        "transpose-2d-anti",
        "transpose-2d-anti:SIZE",
        "(x, y) to (-y, -x): the other diagonal",
        |args| fixed("-y.-x", args),
    ),
    row("rotate-90", "rotate-90:SIZE", "(x, y) to (y, -x)", |args| fixed("y.-x", args)),
    row("rotate-180", "rotate-180:SIZE", "(x, y) to (-x, -y)", |args| fixed("-x.-y", args)),
    row("rotate-270", "rotate-270:SIZE", "(x, y) to (-y, x)", |args| fixed("-y.x", args)),
    row("reflect", "reflect:SIZE", "(x, y, ..) to (-x, -y, ..): through the mid-point", |args| {
        permutation(args, Map::Reflect, None)
    }),
    row("rotate-3d-120", "rotate-3d-120:SIZE", "(x, y, z) to (y, z, x)", |args| {
        fixed("y.z.x", args)
    }),
    row("rotate-3d-180", "rotate-3d-180:SIZE", "(x, y, z) to (-y, -x, -z)", |args| {
        fixed("-y.-x.-z", args)
    }),
    row("rotate-3d-240", "rotate-3d-240:SIZE", "(x, y, z) to (z, x, y)", |args| {
        fixed("z.x.y", args)
    }),
    row(
        "transpose-3d-1",
        "transpose-3d-1:SIZE",
        "(x, y, z) to (-y, -z, -x): a rotation by 180 degrees, then a transposition of two axes",
        |args| fixed("-y.-z.-x", args),
    ),
    row(
        "transpose-3d-2",
        "transpose-3d-2:SIZE",
        "(x, y, z) to (z, -y, -x): a rotation by 180 degrees, then a transposition of one axis",
        |args| fixed("z.-y.-x", args),
    ),
    Generator {
        keys: &[WORD, "to"],
        ..row(
            "axes",
            "axes:SIZE,to=y.-x.z",
            "any permutation of the axes, with any signs",
            any_axes,
        )
    },
    Generator {
        keys: &[WORD, "by"],
        ..row(
            "translate",
            "translate:SIZE,by=IxJ..",
            "(x, y, ..) to (x + I, y + J, ..); a single I is used for all axes",
            translated,
        )
    },
    Generator {
        keys: &[WORD, "by"],
        ..row(
            "shear-2d",
            "shear-2d:SIZE,by=C",
            "(x, y) to (x + C y, y); the default of C is 1",
            sheared,
        )
    },
];

type Read = fn(&mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError>;

const fn row(
    name: &'static str,
    syntax: &'static str,
    help: &'static str,
    read: Read,
) -> Generator {
    let axes = &[(CurveAxis::BlockSize, WORD)];
    Generator {
        name,
        syntax,
        help,
        keys: &[WORD],
        axes,
        sized_by_pair: false,
        sized_by_node: false,
        has_tokens: false,
        random: false,
        read,
    }
}

fn mirrored(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let axis = match args.take("axis").map(|arg| (arg, arg.value().parse::<usize>())) {
        None => 0,
        Some((_, Ok(axis))) if axis < 32 => axis,
        Some((arg, _)) => {
            return Err(args.spec.bad_value(arg, "a dimension's number from 0 to 31"));
        }
    };
    let map = Map::Axes((0..=axis).map(|i| (i, i == axis)).collect());
    permutation(args, map, (axis > 0).then(|| ("axis", axis.to_string())))
}

fn any_axes(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let arg = args.require("to")?;
    let axes = parse_axes(arg.value());
    let map =
        axes.ok_or_else(|| args.spec.bad_value(arg, "each of x, y, .. once, as in `y.-x.z`"))?;
    permutation(args, Map::Axes(map), Some(("to", arg.value().to_owned())))
}

fn translated(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let arg = args.require("by")?;
    let by = arg.value().split('x').map(offset).collect::<Option<Vec<i64>>>();
    let by = by.ok_or_else(|| {
        args.spec.bad_value(arg, "distances, as in `3x-9x7`, or one for all axes")
    })?;
    let printed: Vec<String> = by.iter().map(i64::to_string).collect();
    permutation(args, Map::Translate(by), Some(("by", printed.join("x"))))
}

fn sheared(args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    let by = match args.take("by") {
        None => 1,
        Some(arg) => offset(arg.value())
            .ok_or_else(|| args.spec.bad_value(arg, "a whole number, as in `2`"))?,
    };
    permutation(args, Map::Shear(by), (by != 1).then(|| ("by", by.to_string())))
}

fn fixed(axes: &str, args: &mut Args<'_>) -> Result<Arc<dyn Pattern>, SpecError> {
    permutation(args, Map::Axes(parse_axes(axes).unwrap_or_default()), None)
}

fn permutation(
    args: &mut Args<'_>,
    map: Map,
    own: Option<(&'static str, String)>,
) -> Result<Arc<dyn Pattern>, SpecError> {
    let arg = args.word("a size, as in `permutation/transpose-2d:64`")?;
    Ok(Arc::new(Permutation { bytes: args.whole_elements(arg)?, map, own }))
}

const LETTERS: &str = "xyzw";

#[derive(Debug)]
struct Permutation {
    bytes: u64,
    map: Map,
    own: Option<(&'static str, String)>,
}

#[derive(Debug)]
enum Map {
    /// For each axis of the image, the axis from which its coordinate is taken, and whether the
    /// coordinate is negated. Axes without an entry keep their coordinates.
    Axes(Vec<(usize, bool)>),
    Reflect,
    /// A distance for each axis, or one distance for all axes.
    Translate(Vec<i64>),
    /// A factor. It is multiplied by y, and the product is added to x.
    Shear(i64),
}

impl Pattern for Permutation {
    fn arguments(&self) -> Vec<(&'static str, String)> {
        [(WORD, format_size(self.bytes))].into_iter().chain(self.own.clone()).collect()
    }

    fn uniform_bytes(&self) -> Option<u64> {
        Some(self.bytes)
    }

    fn sizes(&self, _: u64, _: u64, _: u64) -> Result<Arc<dyn BlockSizes>, String> {
        Ok(Arc::new(super::uniform::Uniform { bytes: self.bytes }))
    }

    fn images(&self, radices: &[u64]) -> Result<Option<Arc<[u32]>>, String> {
        let nodes: u64 = radices.iter().product();
        let map = self.map.over(radices)?;
        let strides = strides(radices);
        let image = |node: u64| -> u32 {
            let at = |axis: usize| node / strides[axis] % radices[axis];
            let to = map
                .iter()
                .zip(radices)
                .zip(&strides)
                .map(|((term, n), stride)| term.of(&at, *n) * stride);
            to.sum::<u64>() as u32
        };
        Ok(Some((0..nodes).map(image).collect()))
    }
}

impl Map {
    /// Returns the rule for each coordinate of an image. `Err` continues a sentence that begins
    /// with the name of the workload.
    fn over(&self, radices: &[u64]) -> Result<Vec<ImageAxis>, String> {
        let d = radices.len();
        let same = |axis| ImageAxis { axis, negated: false, plus: 0, sheared: 0 };
        let mut terms: Vec<ImageAxis> = (0..d).map(same).collect();
        match self {
            Self::Axes(axes) => {
                if axes.len() > d {
                    return Err(format!("needs {} dimensions, there are {d}", axes.len()));
                }
                for (to, &(axis, negated)) in axes.iter().enumerate() {
                    if radices[axis] != radices[to] {
                        return Err(format!(
                            "takes dimension {axis} to dimension {to}, which must be of the same size: they have {} and {} nodes",
                            radices[axis], radices[to]
                        ));
                    }
                    terms[to] = ImageAxis { axis, negated, ..same(axis) };
                }
            }
            Self::Reflect => terms.iter_mut().for_each(|t| t.negated = true),
            Self::Translate(by) => {
                if by.len() != 1 && by.len() != d {
                    return Err(format!(
                        "has {} distances, expected 1 or one for each of {d} dimensions",
                        by.len()
                    ));
                }
                for (i, term) in terms.iter_mut().enumerate() {
                    term.plus = by[if by.len() == 1 { 0 } else { i }];
                }
            }
            Self::Shear(by) => {
                if d < 2 {
                    return Err(format!("needs 2 dimensions, there are {d}"));
                }
                terms[0].sheared = *by;
            }
        }
        Ok(terms)
    }
}

/// A coordinate of the image: the coordinate of `axis`, possibly negated, plus `plus`, plus
/// `sheared` times y.
struct ImageAxis {
    axis: usize,
    negated: bool,
    plus: i64,
    sheared: i64,
}

impl ImageAxis {
    fn of(&self, at: &dyn Fn(usize) -> u64, n: u64) -> u64 {
        let n = n as i64;
        let x = at(self.axis) as i64;
        let x = if self.negated { n - 1 - x } else { x };
        let y = if self.sheared == 0 { 0 } else { at(1) as i64 % n };
        (x + self.plus % n + self.sheared % n * y).rem_euclid(n) as u64
    }
}

/// Parses a distance or factor. Returns `None` if its product with a coordinate could overflow.
fn offset(text: &str) -> Option<i64> {
    text.parse().ok().filter(|i: &i64| i.unsigned_abs() <= 1 << 31)
}

/// Parses the axes of an image, such as `y.-x`.
fn parse_axes(text: &str) -> Option<Vec<(usize, bool)>> {
    let mut axes: Vec<(usize, bool)> = Vec::new();
    for word in text.split('.') {
        let letter = word.strip_prefix('-').unwrap_or(word);
        let axis = LETTERS.find(letter).filter(|_| letter.len() == 1)?;
        if axes.iter().any(|(a, _)| *a == axis) {
            return None;
        }
        axes.push((axis, letter.len() < word.len()));
    }
    axes.iter().all(|(axis, _)| *axis < axes.len()).then_some(axes)
}

#[cfg(test)]
mod tests {
    use crate::Workload;
    use swapmeet_core::network::topology;

    fn images(spec: &str, topology: &str) -> Result<Vec<u32>, String> {
        let topology = topology::parse(topology).unwrap();
        let task = Workload::parse(spec).unwrap().task(&topology, 0)?;
        Ok(task.collective.images().unwrap().to_vec())
    }

    fn of(spec: &str, topology_spec: &str, at: &[u64]) -> Vec<u64> {
        let topology = topology::parse(topology_spec).unwrap();
        let node = at.iter().zip(topology.radices()).fold(0, |node, (x, n)| node * n + x);
        let mut to = u64::from(images(spec, topology_spec).unwrap()[node as usize]);
        let mut place = Vec::new();
        for n in topology.radices().iter().rev() {
            place.insert(0, to % n);
            to /= n;
        }
        place
    }

    #[test]
    fn each_permutation_has_its_documented_image() {
        assert_eq!(of("permutation/transpose-1d:8", "torus:6x8", &[1, 3]), [4, 3]);
        assert_eq!(of("permutation/transpose-1d:8,axis=1", "torus:6x8", &[1, 3]), [1, 4]);
        assert_eq!(of("permutation/transpose-2d:8", "torus:8x8", &[1, 3]), [3, 1]);
        assert_eq!(of("permutation/transpose-2d-anti:8", "torus:8x8", &[1, 3]), [4, 6]);
        assert_eq!(of("permutation/rotate-90:8", "torus:8x8", &[1, 3]), [3, 6]);
        assert_eq!(of("permutation/rotate-180:8", "torus:4x8", &[1, 3]), [2, 4]);
        assert_eq!(of("permutation/rotate-270:8", "torus:8x8", &[1, 3]), [4, 1]);
        assert_eq!(of("permutation/reflect:8", "torus:4x5x6x7", &[1, 1, 1, 1]), [2, 3, 4, 5]);
        assert_eq!(of("permutation/rotate-3d-120:8", "torus:8x8x8", &[1, 2, 3]), [2, 3, 1]);
        assert_eq!(of("permutation/rotate-3d-240:8", "torus:8x8x8", &[1, 2, 3]), [3, 1, 2]);
        assert_eq!(of("permutation/rotate-3d-180:8", "torus:8x8x5", &[1, 2, 3]), [5, 6, 1]);
        assert_eq!(of("permutation/transpose-3d-1:8", "torus:8x8x8", &[1, 2, 3]), [5, 4, 6]);
        assert_eq!(of("permutation/transpose-3d-2:8", "torus:8x8x8", &[1, 2, 3]), [3, 5, 6]);
        assert_eq!(of("permutation/axes:8,to=z.-y.x", "torus:8x5x8", &[1, 2, 3]), [3, 2, 1]);
        assert_eq!(of("permutation/translate:8,by=3", "torus:6x8", &[5, 6]), [2, 1]);
        assert_eq!(of("permutation/translate:8,by=-7x9", "torus:6x8", &[5, 6]), [4, 7]);
        assert_eq!(of("permutation/shear-2d:8", "torus:6x8", &[5, 7]), [0, 7]);
        assert_eq!(of("permutation/shear-2d:8,by=-2", "torus:6x8", &[5, 2]), [1, 2]);
    }

    #[test]
    fn permutations_that_do_not_fit_are_refused() {
        let refusal = |spec: &str, topology: &str| images(spec, topology).unwrap_err();
        assert_eq!(
            refusal("permutation/rotate-90:8", "torus:8x16"),
            "`permutation/rotate-90:8` takes dimension 1 to dimension 0, which must be of the same size: they have 16 and 8 nodes"
        );
        assert_eq!(
            refusal("permutation/transpose-2d:8", "ring:8"),
            "`permutation/transpose-2d:8` needs 2 dimensions, there are 1"
        );
        assert_eq!(
            refusal("permutation/transpose-1d:8,axis=2", "torus:8x8"),
            "`permutation/transpose-1d:8,axis=2` needs 3 dimensions, there are 2"
        );
        assert_eq!(
            refusal("permutation/translate:8,by=1x2", "torus:8x8x8"),
            "`permutation/translate:8,by=1x2` has 2 distances, expected 1 or one for each of 3 dimensions"
        );
        assert_eq!(
            refusal("permutation/shear-2d:8", "ring:9"),
            "`permutation/shear-2d:8` needs 2 dimensions, there are 1"
        );
    }

    #[test]
    fn every_permutation_is_a_bijection() {
        let distinct = |spec: &str, topology: &str| {
            let mut to = images(spec, topology).unwrap();
            to.sort_unstable();
            assert!(
                to.iter().enumerate().all(|(i, node)| *node == i as u32),
                "{spec} on {topology}"
            );
        };
        for row in super::PERMUTATIONS {
            let spec = match row.name {
                "axes" => "permutation/axes:1,to=-y.z.-x".to_owned(),
                "translate" => "permutation/translate:1,by=-2147483648x5x2147483648".to_owned(),
                name => format!("permutation/{name}:1"),
            };
            distinct(&spec, "torus:5x5x5");
            distinct(&spec, "torus:6x6x6");
        }
        distinct("permutation/shear-2d:1,by=2147483648", "torus:4x9");
    }
}

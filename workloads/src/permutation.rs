//! Permutations of a grid's nodes: every node has one block for one other (C. C. Spencer, *Circuit-Switched Structured Communications on Toroidal Meshes*, 1994).
//!
//! Coordinates are (x, y, z, ..), the topology's first dimension first. A permutation of the axes sends the node at (x, y) to, say, (y, -x), where -x stands for
//! -1 - x modulo n: the mirror lies between nodes n - 1 and 0, so that no node is its own image. One that exchanges axes needs them of the same size.

use std::fmt;
use std::sync::Arc;
use swapmeet_core::spec::{Arg, Spec, SpecError};

/// What a list says of a permutation: its name, its arguments, what it does.
pub const PERMUTATIONS: [(&str, &str, &str); 15] = [
    ("transpose-1d", ",axis=A", "(x, ..) to (-x, ..), or that of axis A, the first being 0"),
    ("transpose-2d", "", "(x, y) to (y, x): the main diagonal"),
    ("transpose-2d-anti", "", "(x, y) to (-y, -x): the other diagonal"),
    ("rotate-90", "", "(x, y) to (y, -x)"),
    ("rotate-180", "", "(x, y) to (-x, -y)"),
    ("rotate-270", "", "(x, y) to (-y, x)"),
    ("reflect", "", "(x, y, ..) to (-x, -y, ..): through the mid-point"),
    ("rotate-3d-120", "", "(x, y, z) to (y, z, x)"),
    ("rotate-3d-180", "", "(x, y, z) to (-y, -x, -z)"),
    ("rotate-3d-240", "", "(x, y, z) to (z, x, y)"),
    ("transpose-3d-1", "", "(x, y, z) to (-y, -z, -x): a rotation by 180 degrees, then a transposition of two axes"),
    ("transpose-3d-2", "", "(x, y, z) to (z, -y, -x): a rotation by 180 degrees, then a transposition of one axis"),
    ("axes", ",to=y.-x.z", "any permutation of the axes with any signs"),
    ("translate", ",by=IxJ..", "(x, y, ..) to (x + I, y + J, ..); one I is for all axes"),
    ("shear-2d", ",by=C", "(x, y) to (x + C y, y); C is 1 unless given"),
];

const LETTERS: &str = "xyzw";

/// A permutation of any grid that it has a meaning for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permutation {
    name: &'static str,
    map: Map,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Map {
    /// For each of the leading axes of the image, the axis it is taken from and whether it is negated.
    Axes(Vec<(usize, bool)>),
    /// Every axis negated.
    Reflect,
    /// Added to each axis; one for all if there is one.
    Translate(Vec<i64>),
    /// What is added to x for each y.
    Shear(i64),
}

impl Permutation {
    /// The permutation of this name. `take` hands out the argument of a key, if given.
    pub fn parse<'a>(
        spec: &Spec,
        name: &str,
        mut take: impl FnMut(&str) -> Option<&'a Arg>,
    ) -> Result<Option<Self>, SpecError> {
        let Some((name, ..)) = PERMUTATIONS.iter().find(|(known, ..)| *known == name) else { return Ok(None) };
        let signed = |text: &str| axes(text).map(Map::Axes);
        let map = match *name {
            "transpose-1d" => {
                let arg = take("axis");
                let axis = match arg.map(|a| (a, a.value().parse::<usize>())) {
                    None => 0,
                    Some((_, Ok(axis))) if axis < 32 => axis,
                    Some((arg, _)) => return Err(spec.bad_value(arg, "a dimension's number from 0 to 31")),
                };
                Some(Map::Axes((0..=axis).map(|i| (i, i == axis)).collect()))
            }
            "transpose-2d" => signed("y.x"),
            "transpose-2d-anti" => signed("-y.-x"),
            "rotate-90" => signed("y.-x"),
            "rotate-180" => signed("-x.-y"),
            "rotate-270" => signed("-y.x"),
            "rotate-3d-120" => signed("y.z.x"),
            "rotate-3d-180" => signed("-y.-x.-z"),
            "rotate-3d-240" => signed("z.x.y"),
            "transpose-3d-1" => signed("-y.-z.-x"),
            "transpose-3d-2" => signed("z.-y.-x"),
            "axes" => {
                let arg = take("to").ok_or_else(|| missing(spec, "to"))?;
                let map = signed(arg.value());
                Some(map.ok_or_else(|| spec.bad_value(arg, "each of x, y, .. once, as in `y.-x.z`"))?)
            }
            "translate" => {
                let arg = take("by").ok_or_else(|| missing(spec, "by"))?;
                let by = arg.value().split('x').map(small).collect::<Option<Vec<i64>>>();
                Some(Map::Translate(
                    by.ok_or_else(|| spec.bad_value(arg, "distances, as in `3x-9x7`, or one for all axes"))?,
                ))
            }
            "shear-2d" => match take("by") {
                None => Some(Map::Shear(1)),
                Some(arg) => Some(Map::Shear(
                    small(arg.value()).ok_or_else(|| spec.bad_value(arg, "a whole number, as in `2`"))?,
                )),
            },
            _ => Some(Map::Reflect),
        };
        Ok(map.map(|map| Self { name, map }))
    }

    /// Where each node of a grid goes, by number; `Err` says why the permutation has no meaning there.
    pub fn images(&self, radices: &[u64]) -> Result<Arc<[u32]>, String> {
        let nodes: u64 = radices.iter().product();
        let d = radices.len();
        let map = self.over(radices)?;
        let mut strides = vec![1_u64; d];
        for i in (1..d).rev() {
            strides[i - 1] = strides[i] * radices[i];
        }
        let image = |node: u64| -> u32 {
            let at = |axis: usize| node / strides[axis] % radices[axis];
            let to = map.iter().zip(radices).zip(&strides).map(|((term, n), stride)| term.of(&at, *n) * stride);
            to.sum::<u64>() as u32
        };
        Ok((0..nodes).map(image).collect())
    }

    /// What each axis of the image is.
    fn over(&self, radices: &[u64]) -> Result<Vec<Term>, String> {
        let d = radices.len();
        let same = |axis| Term { axis, negated: false, plus: 0, sheared: 0 };
        let mut terms: Vec<Term> = (0..d).map(same).collect();
        match &self.map {
            Map::Axes(axes) => {
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
                    terms[to] = Term { axis, negated, ..same(axis) };
                }
            }
            Map::Reflect => terms.iter_mut().for_each(|t| t.negated = true),
            Map::Translate(by) => {
                if by.len() != 1 && by.len() != d {
                    return Err(format!("has {} distances, expected 1 or one for each of {d} dimensions", by.len()));
                }
                for (i, term) in terms.iter_mut().enumerate() {
                    term.plus = by[if by.len() == 1 { 0 } else { i }];
                }
            }
            Map::Shear(by) => {
                if d < 2 {
                    return Err(format!("needs 2 dimensions, there are {d}"));
                }
                terms[0].sheared = *by;
            }
        }
        Ok(terms)
    }
}

/// An axis of the image: another axis, perhaps negated, and something added.
struct Term {
    axis: usize,
    negated: bool,
    plus: i64,
    sheared: i64,
}

impl Term {
    fn of(&self, at: &dyn Fn(usize) -> u64, n: u64) -> u64 {
        let n = n as i64;
        let x = at(self.axis) as i64;
        let x = if self.negated { n - 1 - x } else { x };
        let y = if self.sheared == 0 { 0 } else { at(1) as i64 % n };
        (x + self.plus % n + self.sheared % n * y).rem_euclid(n) as u64
    }
}

fn missing(spec: &Spec, key: &str) -> SpecError {
    spec.error(0, spec.name().len(), &format!("`{key}=` is missing"))
}

/// A number that no product of coordinates makes too large.
fn small(text: &str) -> Option<i64> {
    text.parse().ok().filter(|i: &i64| i.unsigned_abs() <= 1 << 31)
}

/// `y.-x`: the axes of the image.
fn axes(text: &str) -> Option<Vec<(usize, bool)>> {
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

impl fmt::Display for Permutation {
    /// The name and, after a comma, the argument.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match (&self.map, self.name) {
            (Map::Axes(axes), "transpose-1d") if axes.len() > 1 => write!(f, ",axis={}", axes.len() - 1),
            (Map::Axes(axes), "axes") => {
                for (i, (axis, negated)) in axes.iter().enumerate() {
                    let sign = if *negated { "-" } else { "" };
                    write!(f, "{}{sign}{}", if i == 0 { ",to=" } else { "." }, &LETTERS[*axis..=*axis])?;
                }
                Ok(())
            }
            (Map::Translate(by), _) => {
                let by: Vec<String> = by.iter().map(i64::to_string).collect();
                write!(f, ",by={}", by.join("x"))
            }
            (Map::Shear(by), _) if *by != 1 => write!(f, ",by={by}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Workload;
    use swapmeet_core::network::topology;

    fn images(spec: &str, topology: &str) -> Result<Vec<u32>, String> {
        let topology = topology::parse(topology).unwrap();
        match Workload::parse(spec).unwrap().traffic(topology.as_ref(), 0)?.collective {
            swapmeet_core::delivery::collective::Collective::Permutation { to, .. } => Ok(to.to_vec()),
            other => panic!("{other}"),
        }
    }

    /// The image of (1, 0), (0, 1), .. by its coordinates.
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
    fn each_name_sends_a_node_where_it_says() {
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
    fn what_has_no_meaning_says_why() {
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
    fn every_permutation_reaches_every_node_once() {
        let distinct = |spec: &str, topology: &str| {
            let mut to = images(spec, topology).unwrap();
            to.sort_unstable();
            assert!(to.iter().enumerate().all(|(i, node)| *node == i as u32), "{spec} on {topology}");
        };
        for (name, ..) in super::PERMUTATIONS {
            let spec = match name {
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

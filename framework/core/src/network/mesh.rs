//! Names of the digits of rank numbers (`mesh=`), such as those for data parallelism and expert
//! parallelism.

use std::collections::BTreeSet;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Digit {
    axis: String,
    radix: u64,
}

/// Names of the digits of rank numbers. The digit that changes slowest comes first. Digits with the
/// same name form one axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mesh(Vec<Digit>);

const MESH: &str = "axes with sizes, as in `dp:4/ep:32/tp:4`";

impl Mesh {
    /// Parses digits such as `dp:4/ep:32/tp:4`. The product of their sizes must be `ranks`. One
    /// size may be -1, and is then calculated. An error is the expected text.
    pub fn parse(text: &str, ranks: u64) -> Result<Self, String> {
        let mut digits = Vec::new();
        let mut open = None;
        for (at, digit) in text.split('/').enumerate() {
            let (axis, radix) = digit.split_once(':').ok_or(MESH)?;
            let is_axis = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if axis.is_empty() || !axis.chars().all(is_axis) {
                return Err(MESH.to_owned());
            }
            let radix = match radix {
                "-1" if open.is_none() => {
                    open = Some(at);
                    1
                }
                _ => radix.parse().ok().filter(|radix| *radix >= 1).ok_or(MESH)?,
            };
            digits.push(Digit { axis: axis.to_owned(), radix });
        }
        let product = digits.iter().try_fold(1_u64, |all, digit| all.checked_mul(digit.radix));
        let product = product.filter(|product| *product <= ranks);
        match (product, open) {
            (Some(product), Some(open)) if ranks.is_multiple_of(product) => {
                digits[open].radix = ranks / product;
                Ok(Self(digits))
            }
            (Some(product), None) if product == ranks => Ok(Self(digits)),
            (Some(product), _) => Err(format!(
                "axes whose sizes multiply to {ranks}, the number of ranks (these multiply to {product})"
            )),
            (None, _) => Err(format!(
                "axes whose sizes multiply to {ranks}, the number of ranks (these multiply to more)"
            )),
        }
    }

    pub(super) fn of_size(size: u64, ranks: u64) -> Self {
        let digit = |axis: &str, radix| Digit { axis: axis.to_owned(), radix };
        Self(vec![digit("communicator", ranks / size), digit("member", size)])
    }

    /// Returns the names of the axes, each of them once, in the order of their first digits.
    pub fn axes(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.0.iter().map(|digit| &*digit.axis).filter(|axis| seen.insert(*axis)).collect()
    }

    /// Returns the coordinate of a rank on each axis, in the order of [`Mesh::axes`].
    pub fn coordinates(&self, rank: u64) -> Vec<u64> {
        let mut rest = rank;
        let mut digits: Vec<u64> = Vec::new();
        for digit in self.0.iter().rev() {
            digits.push(rest % digit.radix);
            rest /= digit.radix;
        }
        digits.reverse();
        let own = |axis: &str| {
            let digits = self.0.iter().zip(&digits).filter(|(digit, _)| digit.axis == axis);
            digits.fold(0, |all, (digit, value)| all * digit.radix + value)
        };
        self.axes().into_iter().map(own).collect()
    }

    /// Returns the ranks of all communicators over axes such as `dp+cp`, one communicator after
    /// another, and the size of a communicator.
    pub(super) fn members(&self, over: &str) -> Result<(Vec<u32>, usize), String> {
        let mut strides = vec![1; self.0.len()];
        for digit in (1..self.0.len()).rev() {
            strides[digit - 1] = strides[digit] * self.0[digit].radix;
        }
        let mut inner = Vec::new();
        for axis in over.split('+') {
            let digits = (0..self.0.len()).filter(|digit| self.0[*digit].axis == axis);
            let digits: Vec<usize> = digits.collect();
            if digits.is_empty() {
                let axes = self.axes().join(", ");
                return Err(format!("is over the axis `{axis}`, but the axes are {axes}"));
            }
            if digits.iter().any(|digit| inner.contains(digit)) {
                return Err(format!("is over the axis `{axis}` twice"));
            }
            inner.extend(digits);
        }
        let outer: Vec<usize> = (0..self.0.len()).filter(|digit| !inner.contains(digit)).collect();
        let sums = |digits: &[usize]| {
            digits.iter().fold(vec![0], |all, digit| {
                let (radix, stride) = (self.0[*digit].radix, strides[*digit]);
                let each = |from: u64| (0..radix).map(move |value| from + value * stride);
                all.into_iter().flat_map(each).collect::<Vec<u64>>()
            })
        };
        let (keys, colours) = (sums(&inner), sums(&outer));
        let of_colour = |colour: &u64| {
            let colour = *colour;
            keys.iter().map(move |key| (colour + key) as u32).collect::<Vec<u32>>()
        };
        Ok((colours.iter().flat_map(of_colour).collect(), keys.len()))
    }
}

impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Digit { axis, radix }) in self.0.iter().enumerate() {
            write!(f, "{}{axis}:{radix}", if at > 0 { "/" } else { "" })?;
        }
        Ok(())
    }
}

/// Replaces the value `orders(MESH)` or `shapes(MESH)` of a mesh by a list of meshes:
///
/// - `orders`: one mesh for each order of the axes,
/// - `shapes`: one mesh for each way to divide the prime factors of the network's sides among the
///   axes. Ways that differ only by an exchange of equal sides are counted once. `sides` are the
///   radices of the rank numbers.
///
/// Any other text is returned unchanged. An error is the expected text, also if there would be more
/// than 4,096 meshes.
pub fn expand_mesh(text: &str, sides: &[u64]) -> Result<Vec<String>, String> {
    const MOST: usize = 4096;
    let range = text.strip_suffix(')').and_then(|text| text.split_once('('));
    let Some((kind, inner)) = range else { return Ok(vec![text.to_owned()]) };
    let mesh = Mesh::parse(inner, sides.iter().product())?;
    let meshes = match kind {
        "orders" => orders(&mesh, MOST),
        "shapes" => shapes(&mesh, sides, MOST)?,
        _ => return Err(format!("{MESH}, orders(..) or shapes(..)")),
    };
    let meshes = meshes.ok_or_else(|| format!("a range of at most {MOST} meshes"))?;
    Ok(meshes.iter().map(Mesh::to_string).collect())
}

fn orders(mesh: &Mesh, most: usize) -> Option<Vec<Mesh>> {
    let mut all = vec![(Vec::new(), mesh.0.clone())];
    for _ in &mesh.0 {
        let longer = all.into_iter().flat_map(|(chosen, rest)| {
            (0..rest.len()).map(move |at| {
                let (mut chosen, mut rest) = (chosen.clone(), rest.clone());
                chosen.push(rest.remove(at));
                (chosen, rest)
            })
        });
        all = longer.collect();
        if all.len() > most {
            return None;
        }
    }
    let mut seen = BTreeSet::new();
    let meshes = all.into_iter().map(|(digits, _)| Mesh(digits));
    Some(meshes.filter(|mesh| seen.insert(mesh.clone())).collect())
}

type Choice = (Vec<Vec<(u64, usize)>>, Vec<u64>);

fn shapes(mesh: &Mesh, sides: &[u64], most: usize) -> Result<Option<Vec<Mesh>>, String> {
    let axes: Vec<(String, u64)> = mesh
        .axes()
        .iter()
        .map(|axis| {
            let own = mesh.0.iter().filter(|digit| digit.axis == **axis);
            ((*axis).to_owned(), own.map(|digit| digit.radix).product())
        })
        .collect();
    // Equal sides are interchangeable, so only choices in ascending order are listed for them.
    let mut all: Vec<Choice> = vec![(Vec::new(), axes.iter().map(|(_, size)| *size).collect())];
    for (at, side) in sides.iter().enumerate() {
        let mut longer = Vec::new();
        for (chosen, left) in all {
            let mut of_side = vec![(Vec::new(), left, *side)];
            while let Some((digits, left, rest)) = of_side.pop() {
                if rest == 1 {
                    let is_ordered = (0..at).rev().find(|other| sides[*other] == *side);
                    if is_ordered.is_none_or(|other| chosen[other] <= digits) {
                        let mut chosen = chosen.clone();
                        chosen.push(digits);
                        longer.push((chosen, left));
                    }
                    continue;
                }
                for prime in prime_factors(rest) {
                    for axis in 0..axes.len() {
                        if left[axis].is_multiple_of(prime) {
                            let (mut digits, mut left) = (digits.clone(), left.clone());
                            left[axis] /= prime;
                            digits.push((prime, axis));
                            of_side.push((digits, left, rest / prime));
                        }
                    }
                }
            }
            if longer.len() > most {
                return Ok(None);
            }
        }
        all = longer;
    }
    let mut meshes: Vec<Mesh> = Vec::new();
    for (chosen, _) in all {
        let mut digits: Vec<Digit> = Vec::new();
        for (prime, axis) in chosen.into_iter().flatten() {
            match digits.last_mut() {
                Some(last) if last.axis == axes[axis].0 => last.radix *= prime,
                _ => digits.push(Digit { axis: axes[axis].0.clone(), radix: prime }),
            }
        }
        meshes.push(Mesh(digits));
    }
    meshes.sort();
    meshes.dedup();
    if meshes.is_empty() {
        let sides: Vec<String> = sides.iter().map(u64::to_string).collect();
        return Err(format!("axes that divide the sides {}", sides.join("x")));
    }
    Ok(Some(meshes))
}

fn prime_factors(mut number: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut prime = 2;
    while prime * prime <= number {
        if number.is_multiple_of(prime) {
            factors.push(prime);
            while number.is_multiple_of(prime) {
                number /= prime;
            }
        }
        prime += 1;
    }
    factors.extend((number > 1).then_some(number));
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_multiply_to_the_number_of_ranks() {
        let printed = |text, ranks| Mesh::parse(text, ranks).map(|mesh| mesh.to_string());
        assert_eq!(printed("dp:2/ep:8/dp:4/tp:8", 512).unwrap(), "dp:2/ep:8/dp:4/tp:8");
        assert_eq!(printed("node:-1/gpu:8", 64).unwrap(), "node:8/gpu:8");
        assert_eq!(Mesh::parse("dp:2/ep:8/dp:4", 64).unwrap().axes(), ["dp", "ep"]);
        let refused = [
            ("dp:2/ep:8", "(these multiply to 16)"),
            ("a:4/b:99999999999999999999", MESH),
            ("a:4294967296/b:4294967296", "(these multiply to more)"),
            ("node:-1/gpu:-1", MESH),
            ("node:-1/gpu:7", "(these multiply to 7)"),
            ("dp", MESH),
            ("d p:64", MESH),
            (":64", MESH),
            ("dp:0", MESH),
        ];
        for (text, why) in refused {
            let error = printed(text, 64).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    fn by_digits(mesh: &Mesh, over: &str, ranks: u64) -> Vec<Vec<u32>> {
        let digits = |mut rank: u64| {
            let mut digits = vec![0; mesh.0.len()];
            for (digit, Digit { radix, .. }) in digits.iter_mut().zip(&mesh.0).rev() {
                (*digit, rank) = (rank % radix, rank / radix);
            }
            digits
        };
        let axes: Vec<&str> = over.split('+').collect();
        let own = |rank: u64, axis: &str| {
            let is_own = |(_, digit): &(u64, &Digit)| digit.axis == axis;
            digits(rank).into_iter().zip(&mesh.0).filter(is_own).map(|(n, _)| n).collect::<Vec<_>>()
        };
        let colour = |rank: u64| {
            let is_other = |(_, digit): &(u64, &Digit)| !axes.contains(&&*digit.axis);
            digits(rank)
                .into_iter()
                .zip(&mesh.0)
                .filter(is_other)
                .map(|(n, _)| n)
                .collect::<Vec<_>>()
        };
        let mut all = std::collections::BTreeMap::new();
        for rank in 0..ranks {
            let key: Vec<Vec<u64>> = axes.iter().map(|axis| own(rank, axis)).collect();
            let members: &mut Vec<_> = all.entry(colour(rank)).or_default();
            members.push((key, rank as u32));
        }
        let sorted = all.into_values().map(|mut members| {
            members.sort();
            members.into_iter().map(|(_, rank)| rank).collect()
        });
        sorted.collect()
    }

    #[test]
    fn coordinates_join_the_digits_of_an_axis() {
        let mesh = Mesh::parse("dp:2/ep:3/dp:2/tp:2", 24).unwrap();
        assert_eq!((mesh.axes(), mesh.coordinates(17)), (vec!["dp", "ep", "tp"], vec![2, 1, 1]));
        assert_eq!(mesh.coordinates(23), [3, 2, 1]);
    }

    #[test]
    fn members_differ_only_in_the_digits_of_their_axes() {
        let mesh = Mesh::parse("dp:2/ep:3/dp:2/tp:2", 24).unwrap();
        for over in ["dp", "ep", "tp", "dp+tp", "tp+dp", "ep+dp+tp"] {
            let (ranks, size) = mesh.members(over).unwrap();
            let communicators: Vec<Vec<u32>> = ranks.chunks(size).map(<[u32]>::to_vec).collect();
            assert_eq!(communicators, by_digits(&mesh, over, 24), "{over}");
        }
        assert_eq!(
            mesh.members("xp").unwrap_err(),
            "is over the axis `xp`, but the axes are dp, ep, tp"
        );
        assert_eq!(mesh.members("dp+dp").unwrap_err(), "is over the axis `dp` twice");
    }

    /// By Burnside's lemma, an 8x8x8 torus has 300 shapes. There are 9! / 3!^3 = 1680 ways to give
    /// three of nine factors of 2 to each of three axes. Each exchange of two sides leaves 36 of
    /// these unchanged, and each rotation of the three sides leaves 6: (1680 + 3 * 36 + 2 * 6) / 6
    /// = 300.
    #[test]
    fn ranges_list_all_orders_and_shapes() {
        let sides = [8, 8, 8];
        let meshes = |text: &str| expand_mesh(text, &sides);
        assert_eq!(meshes("orders(dp:8/ep:8/tp:8)").unwrap().len(), 6);
        let shapes = meshes("shapes(dp:8/ep:8/tp:8)").unwrap();
        assert_eq!(shapes.len(), 300);
        assert!(shapes.iter().all(|mesh| Mesh::parse(mesh, 512).is_ok()));
        assert_eq!(
            expand_mesh("shapes(a:4/b:4)", &[4, 4]).unwrap(),
            ["a:2/b:2/a:2/b:2", "a:2/b:4/a:2", "a:4/b:4", "b:2/a:2/b:2/a:2"]
        );
        assert_eq!(meshes("dp:8/ep:64").unwrap(), ["dp:8/ep:64"]);
        assert_eq!(
            meshes("shapes(dp:8)").unwrap_err(),
            "axes whose sizes multiply to 512, the number of ranks (these multiply to 8)"
        );
        assert!(meshes("all(dp:512)").unwrap_err().contains("orders(..) or shapes(..)"));
        assert!(
            meshes("orders(a:2/b:2/c:2/d:2/e:2/f:2/g:2/h:4)").unwrap_err().contains("at most 4096")
        );
    }
}

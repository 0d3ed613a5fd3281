//! Names of the digits of rank numbers (`mesh=`), such as those of data-parallel and expert-parallel
//! ranks.

use std::collections::BTreeSet;
use std::fmt;

/// A digit of rank numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Digit {
    axis: String,
    radix: u64,
}

/// Names of the digits of rank numbers, the slowest digit first. Digits with the same name are one
/// axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mesh(Vec<Digit>);

/// The form of a mesh in a spec.
const MESH: &str = "axes with sizes, as in `dp:4/ep:32/tp:4`";

impl Mesh {
    /// Parses digits such as `dp:4/ep:32/tp:4`. Their sizes must multiply to `ranks`; one of them
    /// may be -1, which stands for the missing factor.
    ///
    /// # Errors
    /// The expected text, if the digits are not valid.
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

    /// Returns the mesh of communicators of `size` consecutive ranks each, whose axis is `member`.
    pub(super) fn of_size(size: u64, ranks: u64) -> Self {
        let digit = |axis: &str, radix| Digit { axis: axis.to_owned(), radix };
        Self(vec![digit("communicator", ranks / size), digit("member", size)])
    }

    /// Returns the names of the axes, each once, in the order of their first digits.
    pub fn axes(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.0.iter().map(|digit| &*digit.axis).filter(|axis| seen.insert(*axis)).collect()
    }

    /// Returns the ranks of each communicator over the axes `over`, such as `dp+cp`. Members are
    /// sorted by these axes, in the given order. Also returns the number of members.
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
        // All sums of the digits' contributions to the rank, in the order of the digits.
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
/// - `orders`: one for each order of the axes,
/// - `shapes`: one for each way to divide the prime factors of the network's sides among the axes,
///   except that networks with equal sides have each way once up to exchanges of these sides.
///   `sides` are the radices of the rank numbers.
///
/// Another text is returned unchanged.
///
/// # Errors
/// The expected text, if the range is not valid or has more than 4,096 meshes.
pub fn expand_mesh(text: &str, sides: &[u64]) -> Result<Vec<String>, String> {
    /// The largest number of meshes in a range.
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

/// Returns the mesh with its digits in every order, or `None` if these are more than `most`.
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

/// Returns the meshes that divide the prime factors of `sides` among the axes of a mesh, or `None`
/// if these are more than `most`.
fn shapes(mesh: &Mesh, sides: &[u64], most: usize) -> Result<Option<Vec<Mesh>>, String> {
    let axes: Vec<(String, u64)> = mesh
        .axes()
        .iter()
        .map(|axis| {
            let own = mesh.0.iter().filter(|digit| digit.axis == **axis);
            ((*axis).to_owned(), own.map(|digit| digit.radix).product())
        })
        .collect();
    // A partial choice: the axis of each prime factor so far, and what is left of each axis. Sides
    // of equal length are interchangeable, so their choices must be in ascending order.
    let mut all: Vec<(Vec<Vec<(u64, usize)>>, Vec<u64>)> =
        vec![(Vec::new(), axes.iter().map(|(_, size)| *size).collect())];
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
            // Adjacent digits of the same axis are one digit.
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

/// Returns the different prime factors of a number.
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

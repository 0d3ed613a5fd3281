//! Boxes of blocks as one set an axis: cut, taken from each other, joined.

use super::set::Set;
use smallvec::SmallVec;

/// A set for each axis of origins, of destinations and for the segments, as far as blocks are told
/// apart by them.
pub(super) type Cube = SmallVec<[Set; 4]>;

/// What there is of each axis.
pub(super) type Radices = [u64];

/// A set for some axes: what a rule says of them, by number of the axis.
pub(super) type Narrowed = [(usize, Set)];

/// Blocks in a box.
pub(super) fn count(cube: &[Set]) -> u64 {
    cube.iter().fold(1, |product: u64, set| product.saturating_mul(set.count()))
}

/// What is in a box and a rule on the axes that the rule narrows, one after another; `None` if that
/// is nothing.
pub(super) fn met(
    cube: &Cube,
    narrowed: &Narrowed,
    radices: &Radices,
) -> Option<SmallVec<[Set; 4]>> {
    let common = narrowed.iter().map(|(axis, set)| {
        let common = cube[*axis].and(set, radices[*axis]);
        (!common.is_empty()).then_some(common)
    });
    common.collect()
}

/// A box where a rule has [`met`] it, and boxes of what else was in it. Only axes that are narrowed
/// cost anything.
pub(super) fn split(
    mut cube: Cube,
    narrowed: &Narrowed,
    met: SmallVec<[Set; 4]>,
    radices: &Radices,
) -> (Cube, SmallVec<[Cube; 2]>) {
    let mut rest = SmallVec::new();
    for ((axis, _), common) in narrowed.iter().zip(met) {
        let outside = cube[*axis].minus(&common, radices[*axis]);
        cube[*axis] = common;
        if !outside.is_empty() {
            let mut piece = cube.clone();
            piece[*axis] = outside;
            rest.push(piece);
        }
    }
    (cube, rest)
}

/// What is in both, and boxes of what else is in `cube`; `None` if they have nothing in common.
pub(super) fn cut(
    cube: &Cube,
    narrowed: &Narrowed,
    radices: &Radices,
) -> Option<(Cube, SmallVec<[Cube; 2]>)> {
    met(cube, narrowed, radices).map(|met| split(cube.clone(), narrowed, met, radices))
}

/// A box as a rule on every axis.
fn whole(cube: &Cube) -> SmallVec<[(usize, Set); 4]> {
    cube.iter().cloned().enumerate().collect()
}

/// What two boxes have in common.
pub(super) fn common(a: &Cube, b: &Cube, radices: &Radices) -> Option<Cube> {
    cut(a, &whole(b), radices).map(|(inner, _)| inner)
}

/// What of `boxes` is in none of `taken`.
pub(super) fn without<'a>(
    mut boxes: Vec<Cube>,
    taken: impl IntoIterator<Item = &'a Cube>,
    radices: &Radices,
) -> Vec<Cube> {
    for held in taken {
        let held = whole(held);
        let left = boxes.into_iter().flat_map(|cube| match cut(&cube, &held, radices) {
            Some((_, rest)) => rest,
            None => SmallVec::from_iter([cube]),
        });
        boxes = left.collect();
    }
    boxes
}

/// Adds a box, none of whose blocks is there, joined with those that differ from it in one axis
/// alone.
pub(super) fn insert(list: &mut Vec<Cube>, mut new: Cube, radices: &Radices) {
    let mut at = list.len();
    while at > 0 {
        at -= 1;
        let mut differing = (0..new.len()).filter(|axis| new[*axis] != list[at][*axis]);
        if let (Some(axis), None) = (differing.next(), differing.next()) {
            new[axis] = new[axis].or(&list.swap_remove(at)[axis], radices[axis]);
            at = list.len();
        }
    }
    list.push(new);
}

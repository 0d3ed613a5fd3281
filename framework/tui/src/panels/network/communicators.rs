//! The communicators whose messages are on links, as marks with colours.
//!
//! In a picture, a place shows a *value*: 0 if no message is there, n + 1 if all messages are of
//! communicator n, and [`SEVERAL`] if they are of several communicators.

use crate::paint::{Painter, width};
use crate::session::recording::{Frame, Recording};
use crate::theme::Theme;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_core::network::mesh::Mesh;

/// The value of a place with messages of several communicators.
pub(super) const SEVERAL: u64 = u64::MAX;

/// The marks of communicators. Further communicators have the same marks again. A mark stands for a
/// communicator also on terminals without colours, or with few.
const MARKS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MARK_OF_SEVERAL: char = '*';

/// Returns the value of a place whose messages are of one communicator, or of several (`None`).
pub(super) fn value(communicator: Option<u32>) -> u64 {
    communicator.map_or(SEVERAL, |number| u64::from(number) + 1)
}

/// Returns the value of two places together.
pub(super) fn joined(a: u64, b: u64) -> u64 {
    match (a, b) {
        (0, other) | (other, 0) => other,
        _ if a == b => a,
        _ => SEVERAL,
    }
}

/// Returns the value of each rank, that of its communicator.
pub(super) fn of_ranks(recording: &Recording) -> Vec<u64> {
    let mut values = vec![0; recording.topology.nodes() as usize];
    for (number, ranks) in (0..).zip(&recording.communicators) {
        ranks.iter().for_each(|rank| values[*rank as usize] = value(Some(number)));
    }
    values
}

/// Returns the mark of a value other than 0, and its style.
pub(super) fn mark(theme: &Theme, value: u64) -> (char, Style) {
    match value {
        SEVERAL => (MARK_OF_SEVERAL, theme.accent),
        _ => {
            let number = (value - 1) as usize;
            (char::from(MARKS[number % MARKS.len()]), theme.series(number))
        }
    }
}

/// Returns the name of a communicator: the axes of the mesh on which its ranks have the same
/// coordinate, with these coordinates, or otherwise its ranks.
fn name(mesh: Option<&Mesh>, ranks: &[u32]) -> String {
    let common = mesh.zip(ranks.split_first()).map(|(mesh, (first, others))| {
        let first = mesh.coordinates((*first).into());
        let mut is_common = vec![true; first.len()];
        for rank in others {
            let here = mesh.coordinates((*rank).into());
            (0..first.len()).for_each(|axis| is_common[axis] &= here[axis] == first[axis]);
        }
        let axes = mesh.axes().into_iter().zip(first).zip(is_common).filter(|(_, common)| *common);
        axes.map(|((axis, at), _)| format!("{axis}={at}")).collect::<Vec<_>>().join("/")
    });
    if let Some(common) = common.filter(|common| !common.is_empty()) {
        return common;
    }
    let list = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match ranks {
        [rank] => format!("rank {rank}"),
        [first, .., last] if ranks.windows(2).all(|pair| pair[0] + 1 == pair[1]) => {
            format!("ranks {first} to {last}")
        }
        [a, b, c, _, ..] => format!("ranks {}, …", list(&[*a, *b, *c])),
        ranks => format!("ranks {}", list(ranks)),
    }
}

/// Draws the legend: how many links have messages of several communicators, and the names of
/// communicators, as many as there is room for. The names are in the second row, if there is one.
pub(super) fn legend(
    painter: &mut Painter<'_, '_>,
    recording: &Recording,
    frame: &Frame,
    (what, note): (&str, &str),
    area: Rect,
) {
    let theme = painter.theme;
    let mut x = painter.put(area, 1, 0, &format!("communicator {what}: "), theme.text);
    let several = frame.communicators.iter().filter(|one| one.is_none()).count();
    let (mark_of_several, style) = mark(&theme, SEVERAL);
    x = painter.put(area, x, 0, &mark_of_several.to_string(), style) + 1;
    let several = format!("several (on {several} of {} used links)", frame.links.len());
    x = painter.put(area, x, 0, &several, theme.text) + 2;
    if !note.is_empty() {
        x = painter.put(area, x, 0, note, theme.dim) + 2;
    }
    let y = u16::from(area.height > 1);
    x = if y > 0 { 1 } else { x };
    for (number, ranks) in (0..).zip(&recording.communicators) {
        let name = name(recording.topology.mesh(), ranks);
        let is_last = number as usize + 1 == recording.communicators.len();
        let rest = if is_last { 0 } else { 3 };
        if x + 2 + width(&name) + rest > area.width {
            painter.put(area, x, y, "…", theme.text);
            return;
        }
        let (mark, style) = mark(&theme, value(Some(number)));
        x = painter.put(area, x, y, &mark.to_string(), style) + 1;
        x = painter.put(area, x, y, &name, theme.text) + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_axes_outside_of_the_communicator() {
        let mesh = Mesh::parse("dp:2/ep:2/dp:2/tp:2", 16).unwrap();
        let name = |ranks: &[u32]| name(Some(&mesh), ranks);
        assert_eq!(name(&[1, 5]), "dp=0/tp=1", "over ep");
        assert_eq!(name(&[6, 7]), "dp=1/ep=1", "over tp");
        assert_eq!(name(&[4, 6, 12, 14]), "ep=1/tp=0", "over dp");
        assert_eq!(name(&[0, 15, 3]), "ranks 0, 15, 3");
        assert_eq!(super::name(None, &[4, 5, 6]), "ranks 4 to 6");
        assert_eq!(super::name(None, &[4, 6, 8, 9]), "ranks 4, 6, 8, …");
        assert_eq!(super::name(None, &[4]), "rank 4");
    }

    #[test]
    fn places_of_several_communicators_have_their_own_mark() {
        let [first, second] = [0, 1].map(|number| value(Some(number)));
        assert_eq!([joined(0, first), joined(second, second)], [first, second]);
        assert_eq!([joined(first, second), joined(value(None), first)], [SEVERAL; 2]);
        for theme in Theme::names().filter_map(Theme::named) {
            let marks: Vec<char> = (1..=62).chain([SEVERAL]).map(|v| mark(&theme, v).0).collect();
            let different: std::collections::BTreeSet<char> = marks.iter().copied().collect();
            assert_eq!(different.len(), marks.len());
            assert!(marks.iter().all(char::is_ascii));
        }
    }
}

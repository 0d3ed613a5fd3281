//! A histogram of the loads of links, or of the amounts of data in nodes.

use super::view::{Heat, Quantity};
use crate::paint::{Painter, below, widest};
use crate::session::recording::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use swapmeet_results::units;

pub(super) fn histogram(painter: &mut Painter<'_, '_>, heat: &Heat<'_>, frame: &Frame, area: Rect) {
    let theme = painter.theme;
    let (quantity, recording) = (heat.quantity, heat.recording);
    let mut values: Vec<u64> = match quantity {
        Quantity::Held => frame.held.clone(),
        Quantity::Messages => frame.links.iter().map(|l| l.messages).collect(),
        // Whether a link has messages of one communicator (1) or of several (2).
        Quantity::Communicator => {
            frame.communicators.iter().map(|one| if one.is_some() { 1 } else { 2 }).collect()
        }
        Quantity::Bytes | Quantity::Loss => frame.links.iter().map(|l| l.load).collect(),
    };
    values.sort_unstable();
    let has_head = quantity != Quantity::Held && area.height > 2;
    if has_head {
        let idle = recording.links.saturating_sub(values.len() as u64);
        let text = format!("{} of {} links used, {idle} idle", values.len(), recording.links);
        painter.put(area, 1, 0, &text, theme.dim);
    }
    let area = below(area, has_head.into());
    let bins = bins(&values, usize::from(area.height).max(1));
    let text = |value: u64| match quantity {
        Quantity::Communicator if value == 1 => "one communicator".to_owned(),
        Quantity::Communicator => "several communicators".to_owned(),
        Quantity::Messages | Quantity::Bytes | Quantity::Held | Quantity::Loss => heat.text(value),
    };
    let label = |(from, to, _): &(u64, u64, usize)| {
        if from == to { text(*from) } else { format!("{}..{}", text(*from), text(*to)) }
    };
    let labels = widest(bins.iter().map(&label));
    let most = bins.iter().map(|b| b.2).max().unwrap_or(1).max(1);
    let noun = if quantity == Quantity::Held { "node" } else { "link" };
    let room = area.width.saturating_sub(labels + 18);
    for (y, bin) in (0..).zip(&bins) {
        painter.put_right(area, 1 + labels, y, &label(bin), theme.text);
        let long = ((bin.2 * usize::from(room)).div_ceil(most)) as u16;
        let hot = heat.level(bin.1);
        for x in 0..long {
            painter.dot(area, labels + 3 + x, y, '█', theme.heat(hot));
        }
        painter.put(area, labels + 4 + long, y, &units::count(bin.2, noun), Style::new());
    }
}

/// Divides values into at most `at_most` bins. Each bin has a minimum, a maximum and the number of
/// its values. If there are few different values, each of them has its own bin. Otherwise, all bins
/// have the same width.
fn bins(values: &[u64], at_most: usize) -> Vec<(u64, u64, usize)> {
    let (Some(least), Some(most)) = (values.first(), values.last()) else { return Vec::new() };
    let mut single: Vec<(u64, u64, usize)> = Vec::new();
    for value in values {
        let full = single.len() == at_most;
        match single.last_mut() {
            Some(bin) if bin.0 == *value => bin.2 += 1,
            _ if full => {
                single.clear();
                break;
            }
            _ => single.push((*value, *value, 1)),
        }
    }
    if !single.is_empty() {
        return single;
    }
    let step = u128::from(most - least) / at_most as u128 + 1;
    let mut wide: Vec<(u64, u64, usize)> = Vec::new();
    for value in values {
        let from = least + (u128::from(value - least) / step * step) as u64;
        let to = u64::try_from(u128::from(from) + step - 1).unwrap_or(u64::MAX);
        match wide.last_mut() {
            Some(bin) if bin.0 == from => bin.2 += 1,
            _ => wide.push((from, to, 1)),
        }
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_their_own_bins() {
        assert_eq!(bins(&[1, 1, 4], 3), [(1, 1, 2), (4, 4, 1)]);
        assert_eq!(bins(&[0, 1, 2, 3, 9], 2), [(0, 4, 4), (5, 9, 1)]);
        assert_eq!(bins(&[0, u64::MAX], 1).len(), 1);
        assert!(bins(&[], 3).is_empty());
    }
}

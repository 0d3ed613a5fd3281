//! A picture of the cost of each link's failure, that is, by how much the time increases. The costs
//! come from the rows of `swapmeet links`.

use super::grid::grid;
use super::lattice::Lattice;
use super::picture::legend;
use super::view::{DISCONNECTS, DOUBLED, Heat, Picture, PictureInfo, Quantity, View};
use crate::paint::{Painter, below, cut_middle};
use crate::session::recording::{Frame, Load, Recording};
use ratatui::layout::Rect;
use swapmeet_core::network::topology::Network;
use swapmeet_results::analysis::{LinkCost, LinkCosts};
use swapmeet_results::duration;

/// The increase of the time at which the scale of costs ends at least, so that the loss of a link
/// that hardly matters does not have the colour of an alarm.
const SMALL: f64 = 0.1;

fn load_of(cost: LinkCost) -> u64 {
    match cost {
        LinkCost::Disconnects => DISCONNECTS,
        LinkCost::Ratio(ratio) => ((ratio - 1.0).max(0.0) * DOUBLED).round() as u64,
    }
}

/// Returns the costs in the form of link loads, so that they can be drawn like a step, and the
/// largest cost of a link that does not disconnect ranks.
fn frame(costs: &LinkCosts, topology: &Network) -> (Frame, u64) {
    let load = |link: u64| {
        let (a, b) = topology.link_ends(link)?;
        let load = load_of(*costs.links.get(&(a.min(b), a.max(b)))?);
        Some(Load { link, messages: 0, load })
    };
    let links: Vec<Load> = (0..topology.link_slots()).filter_map(load).collect();
    let timed = links.iter().map(|link| link.load).filter(|load| *load != DISCONNECTS);
    let most = timed.max().unwrap_or(0).max((DOUBLED * SMALL) as u64);
    (Frame { links, ..Frame::default() }, most)
}

/// Draws the costs of link failures in the network of `recording`: as a picture of the network if
/// it is a grid, and otherwise as a ranking of the links.
pub(super) fn draw(
    painter: &mut Painter<'_, '_>,
    recording: &Recording,
    costs: &LinkCosts,
    view: &View,
    area: Rect,
) {
    let theme = painter.theme;
    let (frame, most) = frame(costs, recording.topology.as_ref());
    let heat = Heat { quantity: Quantity::Loss, most, recording };
    painter.put(area, 1, 0, "What the loss of a link costs", theme.accent);
    let text = cut_middle(&in_words(costs), area.width.saturating_sub(2));
    painter.put(area, 1, 1, &text, theme.text);
    let body = below(Rect { height: area.height.saturating_sub(1), ..area }, 2);
    let lattice = Lattice::of(recording.topology.as_ref(), view.plane, view.turned);
    let drawn = match lattice.filter(|_| view.picture == Picture::Network) {
        Some(lattice) => grid(painter, &heat, &frame, &lattice, view, body),
        None => {
            ranking(painter, &heat, costs, body);
            PictureInfo::heat(String::new())
        }
    };
    let has_cut = costs.disconnecting().next().is_some();
    let cut = if has_cut { "X disconnects ranks" } else { "" };
    let notes = [cut, &drawn.note].into_iter().filter(|note| !note.is_empty());
    let note = notes.collect::<Vec<_>>().join("; ");
    let foot = below(area, area.height.saturating_sub(1));
    legend(painter, &heat, &frame, &PictureInfo { note, ..drawn }, foot);
}

/// Formats the time with all links, and the time without the link whose failure costs most. Also
/// states how many other links cost the same, and how many links disconnect ranks if they fail.
fn in_words(costs: &LinkCosts) -> String {
    let all = format!("all links: {}", duration(costs.time_us));
    let worst = costs.worst().map(|(links, ratio)| {
        let ((a, b), more) = (links[0], links.len() - 1);
        let others = if more > 0 { format!(" ({more} more)") } else { String::new() };
        format!("without {a}-{b}{others}: {}", duration(ratio * costs.time_us))
    });
    let cut = match costs.disconnecting().count() {
        0 => None,
        1 => Some("1 disconnects".to_owned()),
        count => Some(format!("{count} disconnect")),
    };
    [Some(all), worst, cut].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn ranking(painter: &mut Painter<'_, '_>, heat: &Heat<'_>, costs: &LinkCosts, area: Rect) {
    let theme = painter.theme;
    let mut links: Vec<((u64, u64), u64)> =
        costs.links.iter().map(|(ends, cost)| (*ends, load_of(*cost))).collect();
    links.sort_by_key(|(ends, load)| (std::cmp::Reverse(*load), *ends));
    for (y, ((a, b), load)) in (0..area.height).zip(links) {
        let hot = heat.level(load);
        let style = if load == DISCONNECTS { theme.bad } else { theme.heat(hot) };
        painter.put(area, 1, y, &format!("{a}-{b}"), theme.text);
        painter.put_right(area, 28, y, &heat.text(load), theme.text);
        for x in 0..2 * hot as u16 {
            painter.dot(area, 30 + x, y, if load == DISCONNECTS { 'X' } else { '█' }, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{LEVELS, level};

    #[test]
    fn small_losses_are_not_red() {
        let costs = |ratio: f64| LinkCosts {
            case: swapmeet_results::CaseId::default(),
            time_us: 1.0,
            links: [((0, 1), LinkCost::Ratio(ratio))].into(),
        };
        let topology = swapmeet_core::network::topology::parse("ring:4").unwrap();
        let hottest = |ratio| {
            let (frame, most) = frame(&costs(ratio), topology.as_ref());
            frame.links.iter().map(|link| level(link.load, most)).max().unwrap()
        };
        assert_eq!([hottest(1.013), hottest(1.5)], [1, LEVELS - 1]);
    }
}

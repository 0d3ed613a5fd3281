//! A schedule as it happens: what links carry and nodes hold, step by step.

use super::Target;
use super::paint::{Painter, width};
use super::parts::told_apart;
use crate::app::{App, many};
use crate::model::comparison::Group;
use crate::model::curves::size_text;
use crate::model::frames::{Frame, Recording};
use crate::model::lattice::{Across, Lattice};
use crate::model::queue::{Row, specs};
use crate::theme::{LEVELS, SHADES, level};
use crate::ui::{Panel, Shown};
use ratatui::layout::Rect;
use ratatui::style::Style;

pub(super) fn draw(painter: &mut Painter<'_, '_>, app: &App, area: Rect) {
    let Some((_, row)) = app.focused() else {
        let area = painter.panel(area, Panel::Network, "Network");
        return painter.nothing(
            area,
            "No case yet. Pick what to run in Explore (1), then R runs it; its schedule is shown here.",
        );
    };
    let title = title(app, row, area.width.saturating_sub(8));
    let area = painter.panel(area, Panel::Network, &title);
    let Some(recording) = app.recording.as_ref().filter(|r| r.key == row.key) else {
        let text = match row.record().and_then(|r| r.plan_ms) {
            Some(ms) => format!("To plan this schedule took {:.1} s: Enter walks it again to show it.", ms / 1e3),
            None => "The schedule is shown once the case has run; Enter walks it now.".to_owned(),
        };
        return painter.nothing(area, &text);
    };
    if recording.notes.is_empty() {
        let text = match &recording.ended {
            None => "The schedule is being walked ..".to_owned(),
            Some(record) if record.reason.is_empty() => "Nothing is sent in this schedule.".to_owned(),
            Some(record) => format!("{}: {}", record.status, record.reason),
        };
        return painter.nothing(area, &text);
    }
    let top = header(painter, app, recording, area);
    let foot = 2.min(area.height.saturating_sub(top));
    timeline(painter, app, recording, Rect { y: area.y + area.height - foot, height: foot.min(1), ..area });
    let body = Rect { y: area.y + top, height: area.height.saturating_sub(top + foot), ..area };
    let legend_at = Rect { y: area.y + area.height.saturating_sub(1), height: 1, ..area };
    let Some(frame) = recording.frame(app.ui.player.step) else {
        return painter.nothing(body, "This step is being walked ..");
    };
    let drawn = match Lattice::of(recording.topology.as_ref(), app.ui.player.plane, app.ui.player.turned) {
        Some(lattice) => grid(painter, app, recording, frame, &lattice, body),
        None => {
            histogram(painter, app, recording, frame, body);
            Drawn { note: String::new(), figures: false }
        }
    };
    legend(painter, app, recording, &drawn, legend_at);
}

/// Whose schedule it is: in full, or, where there is no room for that, by what tells the case from others.
fn title(app: &App, row: &Row, room: u16) -> String {
    let [algorithm, topology, workload, machine] = specs(&row.case);
    let full = format!("Network: {algorithm} on {topology}, {workload}, {machine}");
    let is = |group: &&Group| (&group.topology, &group.workload, &group.machine) == (&topology, &workload, &machine);
    match app.compared.groups.iter().find(is) {
        Some(group) if width(&full) > room => {
            let head = format!("Network: {algorithm}, ");
            let room = room.saturating_sub(width(&head));
            head + &told_apart(&app.compared.groups, group, room)
        }
        _ => full,
    }
}

/// Which step it is and what no machine changes about it.
fn header(painter: &mut Painter<'_, '_>, app: &App, recording: &Recording, area: Rect) -> u16 {
    let theme = painter.theme;
    let player = app.ui.player;
    let more = if recording.is_walking() { "+" } else { "" };
    let text = format!("step {} of {}{more}", player.step + 1, recording.steps());
    let x = painter.put(area, 1, 0, &text, theme.accent);
    let state = if player.plays { "▸" } else { "paused," };
    let state = format!("{state} {} a second", player.speed);
    painter.put_right(area, area.width.saturating_sub(1), 0, &state, if player.plays { theme.good } else { theme.dim });
    let room = area.width.saturating_sub(width(&state) + 3);
    painter.put(Rect { width: room, ..area }, x + 2, 0, recording.phase_of(player.step), theme.text);
    let broken = recording.ended.as_ref().filter(|r| !r.reason.is_empty() && player.step + 1 >= recording.notes.len());
    if let Some(record) = broken {
        painter.put(area, 1, 1, &format!("{}: {}", record.status, record.reason), theme.bad);
    } else if let Some(note) = recording.notes.get(player.step) {
        let facts = &note.facts;
        let text = format!(
            "{}, longest {}, {}, busiest link {}, at most {} a node",
            many(facts.messages as usize, "message"),
            size_text(recording.bytes(facts.max_load) as f64),
            many(facts.max_hops as usize, "hop"),
            facts.max_link_messages,
            many(facts.max_sends as usize, "send")
        );
        painter.put(area, 1, 1, &text, theme.dim);
    }
    2
}

/// The busiest link of every step, the step that is shown marked.
fn timeline(painter: &mut Painter<'_, '_>, app: &App, recording: &Recording, area: Rect) {
    const BARS: [char; 7] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇'];
    let room = usize::from(area.width.saturating_sub(2));
    let steps = recording.notes.len();
    if room == 0 {
        return;
    }
    let most = recording.notes.iter().map(|n| n.facts.max_link_messages).max().unwrap_or(1).max(1);
    // One column a step while they fit, else as many steps as it takes.
    let columns = steps.min(room);
    for x in 0..columns {
        let (from, to) = (x * steps / columns, ((x + 1) * steps / columns).max(x * steps / columns + 1));
        let busiest = recording.notes[from..to.min(steps)].iter().map(|n| n.facts.max_link_messages).max().unwrap_or(0);
        let bar = BARS[((busiest * BARS.len() as u64).div_ceil(most) as usize).clamp(1, BARS.len()) - 1];
        let here = (from..to).contains(&app.ui.player.step);
        painter.dot(area, 1 + x as u16, 0, bar, if here { painter.theme.cursor } else { painter.theme.dim });
        painter.hit(area, 1 + x as u16, 0, 1, Target::Step(from));
    }
    if columns + 20 < room {
        painter.put(area, columns as u16 + 3, 0, "busiest link of each step", painter.theme.dim);
    }
}

/// What the colours mean.
fn legend(painter: &mut Painter<'_, '_>, app: &App, recording: &Recording, drawn: &Drawn, area: Rect) {
    let theme = painter.theme;
    let shown = app.ui.player.shown;
    let most = recording.most[shown as usize];
    let value = |v: u64| match shown {
        Shown::Messages => v.to_string(),
        _ => size_text(recording.bytes(v) as f64),
    };
    let what = match shown {
        Shown::Messages => "messages on a link",
        Shown::Bytes => "bytes on a link",
        Shown::Held => "bytes held by a node",
    };
    let mark = |level: usize| if theme.coloured && level > 0 { '█' } else { SHADES[level] };
    if drawn.figures {
        let figures = if shown == Shown::Messages {
            "their number, + for more than 9".to_owned()
        } else {
            format!("from 1 to {} for {}", LEVELS - 1, value(most))
        };
        let x = painter.put(area, 1, 0, &format!("{what}: {figures}; ■ sends, □ doesn't"), theme.text) + 2;
        painter.put(area, x, 0, &drawn.note, theme.dim);
        return;
    }
    let mut x = painter.put(area, 1, 0, &format!("{what}: {}", value(0)), theme.text) + 1;
    if most < LEVELS as u64 {
        // Few enough for each to have its own.
        painter.dot(area, x, 0, mark(0), theme.heat(0));
        x += 3;
        for load in 1..=most {
            x = painter.put(area, x, 0, &value(load), theme.text) + 1;
            painter.dot(area, x, 0, mark(level(load, most)), theme.heat(level(load, most)));
            x += 3;
        }
    } else {
        for level in 0..LEVELS {
            painter.dot(area, x, 0, mark(level), theme.heat(level));
            x += 1;
        }
        x = painter.put(area, x + 1, 0, &value(most), theme.text) + 2;
    }
    painter.put(area, x, 0, &drawn.note, theme.dim);
}

/// How a network was drawn.
struct Drawn {
    /// What has to be said about it.
    note: String,
    /// Whether links are figures, as they are without colours, rather than in the colours of the legend.
    figures: bool,
}

/// A heat map of a grid, or of a plane of one.
fn grid(
    painter: &mut Painter<'_, '_>,
    app: &App,
    recording: &Recording,
    frame: &Frame,
    lattice: &Lattice,
    area: Rect,
) -> Drawn {
    let shown = app.ui.player.shown;
    let most = recording.most[shown as usize];
    let (loads, across) = lattice.loads(recording.topology.as_ref(), frame, shown == Shown::Bytes);
    let area = if recording.topology.radices().len() == 3 && area.height > 3 {
        let foot = Rect { y: area.y + area.height - 1, height: 1, ..area };
        painter.put(foot, 1, 0, &plane_in_words(recording, shown, lattice, across), painter.theme.text);
        Rect { height: area.height - 1, ..area }
    } else {
        area
    };
    let (rows, columns) = lattice.shape(area.width.saturating_sub(2) / 4);
    if columns * 4 <= u64::from(area.width.saturating_sub(1)) && rows * 2 <= u64::from(area.height) {
        let left = (u64::from(area.width) - columns * 4) / 2;
        let place = Rect { x: area.x + left as u16, width: area.width - left as u16, ..area };
        for index in 0..lattice.nodes() {
            let (x, y) = ((index % columns * 4) as u16, (index / columns * 2) as u16);
            let held = frame.held.get(lattice.node(index) as usize).copied().unwrap_or(0);
            let own = loads[index as usize];
            node(painter, shown, (held, own.sends()), most, place, (x, y));
            if shown == Shown::Held {
                continue;
            }
            let (right, below) = (lattice.beside(index), lattice.below(index));
            let back = right.map_or(0, |n| loads[n as usize].back);
            let up = below.map_or(0, |n| loads[n as usize].up);
            for (dx, dy, arrow, load) in [
                (2, 0, '▸', own.ahead),
                (3, 0, '◂', back),
                (0, 1, '▾', own.down),
                (1, 1, '▴', up),
                (3, 1, '◆', own.across),
            ] {
                link(painter, shown, (arrow, load), most, place, (x + dx, y + dy));
            }
        }
        return Drawn { note: String::new(), figures: shown != Shown::Held && !painter.theme.coloured };
    }
    // Too many for that: a mark a node, or a square of them, by the most of what it stands for.
    let (rows, columns) = lattice.shape(area.width.saturating_sub(2) / 2);
    let side = (columns * 2)
        .div_ceil(u64::from(area.width.max(2) - 1))
        .max(rows.div_ceil(u64::from(area.height.max(1))))
        .max(1);
    let (high, wide) = (rows.div_ceil(side), columns.div_ceil(side));
    // A line that is broken may leave places in its last row: no node is there.
    let mut cells = vec![None; (high * wide) as usize];
    for index in 0..lattice.nodes() {
        let value = match shown {
            Shown::Held => frame.held.get(lattice.node(index) as usize).copied().unwrap_or(0),
            _ => loads[index as usize].most(),
        };
        let cell = &mut cells[(index / columns / side * wide + index % columns / side) as usize];
        *cell = (*cell).max(Some(value));
    }
    let left = (u64::from(area.width).saturating_sub(wide * 2) / 2) as u16;
    for (i, value) in (0..).zip(cells) {
        let Some(value) = value else { continue };
        let heat = level(value, most);
        let mark = if painter.theme.coloured && heat > 0 { '█' } else { SHADES[heat] };
        let (x, y) = (left + (i % wide * 2) as u16, (i / wide) as u16);
        painter.dot(area, x, y, mark, painter.theme.heat(heat));
        if heat > 0 {
            painter.dot(area, x + 1, y, mark, painter.theme.heat(heat));
        }
    }
    let of = if shown == Shown::Held { "" } else { "a node's busiest link" };
    let square = if side > 1 { format!("the most of {side}x{side} nodes") } else { String::new() };
    let note = [of, &square].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(", ");
    Drawn { note, figures: false }
}

/// Which plane of three dimensions is seen, and what goes to others.
fn plane_in_words(recording: &Recording, shown: Shown, lattice: &Lattice, across: Across) -> String {
    let Lattice { plane, planes, across: dimension, .. } = lattice;
    let place = format!("plane {} of {planes} (dimension {})", plane + 1, dimension + 1);
    let size = |load| size_text(recording.bytes(load) as f64);
    match shown {
        Shown::Messages | Shown::Bytes if across.sum == 0 => format!("{place}; nothing goes to other planes"),
        Shown::Messages => {
            format!("{place}; ◆ {} to other planes, busiest {}", many(across.sum as usize, "message"), across.most)
        }
        Shown::Bytes => format!("{place}; ◆ {} to other planes, busiest {}", size(across.sum), size(across.most)),
        Shown::Held => place,
    }
}

/// A node of the lattice: what it holds, or whether it sends.
fn node(
    painter: &mut Painter<'_, '_>,
    shown: Shown,
    (held, sends): (u64, bool),
    most: u64,
    area: Rect,
    (x, y): (u16, u16),
) {
    let theme = painter.theme;
    let (mark, style) = match shown {
        Shown::Held => {
            let heat = level(held, most);
            (if theme.coloured && heat > 0 { '█' } else { SHADES[heat] }, theme.heat(heat))
        }
        _ if sends => ('■', theme.text),
        _ => ('□', theme.dim),
    };
    // What is held fills the node's place; without it, that is left to its links.
    let (wide, high) = if shown == Shown::Held { (4, 2) } else { (1, 1) };
    for (dx, dy) in (0..high).flat_map(|dy| (0..wide).map(move |dx| (dx, dy))) {
        painter.dot(area, x + dx, y + dy, mark, style);
    }
}

/// A link: an arrow by the heat of its load, or a figure where there are no colours.
fn link(
    painter: &mut Painter<'_, '_>,
    shown: Shown,
    (arrow, load): (char, u64),
    most: u64,
    area: Rect,
    (x, y): (u16, u16),
) {
    let theme = painter.theme;
    let heat = level(load, most);
    let figure = if shown == Shown::Messages { load } else { heat as u64 };
    let mark = match (heat, theme.coloured) {
        (0, _) => ' ',
        (_, true) => arrow,
        (_, false) => u32::try_from(figure).ok().and_then(|f| char::from_digit(f, 10)).unwrap_or('+'),
    };
    painter.dot(area, x, y, mark, theme.heat(heat));
}

/// How many links carry how much, or how many nodes hold how much.
fn histogram(painter: &mut Painter<'_, '_>, app: &App, recording: &Recording, frame: &Frame, area: Rect) {
    let theme = painter.theme;
    let shown = app.ui.player.shown;
    let mut values: Vec<u64> = match shown {
        Shown::Messages => frame.links.iter().map(|l| l.messages).collect(),
        Shown::Bytes => frame.links.iter().map(|l| l.load).collect(),
        Shown::Held => frame.held.clone(),
    };
    values.sort_unstable();
    let area = if shown != Shown::Held && area.height > 2 {
        let idle = recording.links.saturating_sub(values.len() as u64);
        let text = format!("{} of {} links carry something, {idle} idle", values.len(), recording.links);
        painter.put(area, 1, 0, &text, theme.dim);
        Rect { y: area.y + 1, height: area.height - 1, ..area }
    } else {
        area
    };
    let bins = bins(&values, usize::from(area.height).max(1));
    let text = |v: u64| match shown {
        Shown::Messages => v.to_string(),
        _ => size_text(recording.bytes(v) as f64),
    };
    let label = |(from, to, _): &(u64, u64, usize)| {
        if from == to { text(*from) } else { format!("{}..{}", text(*from), text(*to)) }
    };
    let labels = bins.iter().map(|b| width(&label(b))).max().unwrap_or(0);
    let most = bins.iter().map(|b| b.2).max().unwrap_or(1).max(1);
    let noun = if shown == Shown::Held { "node" } else { "link" };
    let room = area.width.saturating_sub(labels + 18);
    for (y, bin) in (0..).zip(&bins) {
        painter.put_right(area, 1 + labels, y, &label(bin), theme.text);
        let long = ((bin.2 * usize::from(room)).div_ceil(most)) as u16;
        let heat = level(bin.1, recording.most[shown as usize]);
        for x in 0..long {
            painter.dot(area, labels + 3 + x, y, '█', theme.heat(heat));
        }
        painter.put(area, labels + 4 + long, y, &many(bin.2, noun), Style::new());
    }
}

/// Values, sorted, as at most so many bins of (least, most, count): one a value while there are few, else equally wide.
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
    fn few_values_have_a_bin_each_and_many_share() {
        assert_eq!(bins(&[1, 1, 4], 3), [(1, 1, 2), (4, 4, 1)]);
        assert_eq!(bins(&[0, 1, 2, 3, 9], 2), [(0, 4, 4), (5, 9, 1)]);
        assert_eq!(bins(&[0, u64::MAX], 1).len(), 1);
        assert!(bins(&[], 3).is_empty());
    }
}

//! What tells cases apart, in as many columns as there is room for.

use crate::paint::width;
use crate::session::queue::{Common, Row};
use crate::short::Short;

/// What tells cases apart: a text of each case in sight, and how wide all are.
pub(crate) type Column = (Vec<String>, u16);

/// What tells cases apart. Where there is little room that goes which all have in common, then long
/// specs are cut as far as they stay different, then further, then the last goes; whatever room
/// that frees is the others' again. Returns what is between columns, too.
pub(crate) fn columns(rows: &[&Row], common: &Common, room: u16) -> (Vec<Column>, u16) {
    /// Specs narrower than this are hard to read.
    const NARROW: usize = 10;
    /// Specs narrower than this tell little.
    const LEAST: usize = 6;
    /// Narrower than this, what tells cases apart is better left out.
    const UGLY: usize = 4;
    let again = rows.iter().any(|row| row.key.repetition > 0);
    let texts: [&dyn Fn(&Row) -> String; 5] = [
        &|row| row.specs()[0].to_owned(),
        &|row| row.specs()[1].to_owned(),
        &|row| row.specs()[2].to_owned(),
        // Counted from 1, as details do.
        &|row| {
            if again { format!("#{}", u64::from(row.key.repetition) + 1) } else { String::new() }
        },
        &|row| row.specs()[3].to_owned(),
    ];
    let [_, topology, workload, machine] = common.each_ref().map(Option::is_some);
    let mut wanted: Vec<(Vec<String>, bool)> = Vec::new();
    for (text, is_common) in texts.into_iter().zip([false, topology, workload, false, machine]) {
        let texts: Vec<String> = rows.iter().map(|row| text(row)).collect();
        if texts.iter().any(|text| !text.is_empty()) {
            wanted.push((texts, is_common));
        }
    }
    let widths = |wanted: &[(Vec<String>, bool)]| -> Vec<u16> {
        wanted
            .iter()
            .map(|(texts, _)| texts.iter().map(|text| width(text)).max().unwrap_or(0))
            .collect()
    };
    while taken(&widths(&wanted), 2) > room {
        let Some(common) = wanted.iter().rposition(|(_, is_common)| *is_common) else { break };
        wanted.remove(common);
    }
    let least = |texts: &[String]| Short::least(texts.iter().map(String::as_str), NARROW);
    let (widths, gap) = loop {
        let full = widths(&wanted);
        if taken(&full, 2) <= room {
            break (full, 2);
        }
        let different: Vec<u16> = wanted.iter().map(|(texts, _)| least(texts) as u16).collect();
        let narrow = vec![LEAST as u16; full.len()];
        let ugly = vec![UGLY as u16; full.len()];
        let ways = [(&different, 2), (&different, 1), (&narrow, 1), (&ugly, 1)];
        let shrunk =
            ways.into_iter().find_map(|(least, gap)| Some((shrink(&full, least, gap, room)?, gap)));
        match shrunk {
            Some(found) => break found,
            None if wanted.len() > 2 => drop(wanted.pop()),
            None => break (narrow, 1),
        }
    };
    let short = |(texts, _): &(Vec<String>, bool), wide| {
        Short::of(texts.iter().map(String::as_str), usize::from(wide))
    };
    let mut shorts: Vec<Short> =
        wanted.iter().zip(&widths).map(|(column, wide)| short(column, *wide)).collect();
    // Texts that are cut where they agree may not need all that they have: the next that is cut
    // gets it.
    let needed = |(texts, _): &(Vec<String>, bool), short: &Short| -> u16 {
        texts.iter().map(|text| width(short.get(text))).max().unwrap_or(0)
    };
    let mut widths: Vec<u16> =
        wanted.iter().zip(&shorts).map(|(column, short)| needed(column, short)).collect();
    for at in 0..widths.len() {
        let free = room.saturating_sub(taken(&widths, gap));
        shorts[at] = short(&wanted[at], widths[at] + free);
        widths[at] = needed(&wanted[at], &shorts[at]);
    }
    let columns = wanted.into_iter().zip(widths).zip(shorts);
    let columns = columns.map(|(((texts, _), wide), short)| {
        (texts.iter().map(|t| short.get(t).to_owned()).collect(), wide)
    });
    (columns.collect(), gap)
}

/// Columns with spaces between them.
fn taken(widths: &[u16], gap: u16) -> u16 {
    widths.iter().map(|wide| wide + gap).sum::<u16>().saturating_sub(gap)
}

/// Takes from the widest what there is no room for; `None` if that makes some narrower than they
/// may be.
fn shrink(full: &[u16], least: &[u16], gap: u16, room: u16) -> Option<Vec<u16>> {
    let mut widths = full.to_vec();
    while taken(&widths, gap) > room {
        let over = widths.iter_mut().zip(least).filter(|(wide, least)| **wide > **least);
        *over.max_by_key(|(wide, _)| **wide)?.0 -= 1;
    }
    Some(widths)
}

//! The columns of the queue panel, which lists the cases. A case has one column for each of its
//! specs (algorithm, topology, workload and machine), and one for the number of its repetition. If
//! the available width is too small for all columns, specs are abbreviated and columns are removed.

use crate::abbreviate::Abbreviations;
use crate::fit::{shrink, total_width};
use crate::paint::widest;
use crate::session::queue::{CaseRow, Common};

/// The texts of the visible cases in one column, and the width of the column.
pub(crate) type Column = (Vec<String>, u16);

/// Returns the columns of the queue, and the gap between them.
///
/// If the width is too small, columns are shortened in three stages:
/// 1. The columns of topologies, workloads and machines that are equal for all cases are removed,
///    from right to left, until the others fit.
/// 2. Long specs are abbreviated. At first they are abbreviated only so far that different specs
///    stay different, and then further.
/// 3. Whole columns are removed.
///
/// If the abbreviations of a column need less than its width, the remaining columns get the unused
/// width.
pub(crate) fn columns(rows: &[&CaseRow], common: &Common, room: u16) -> (Vec<Column>, u16) {
    const PREFERRED_WIDTH: usize = 10;
    /// The smallest width in which a spec is still recognisable.
    const USEFUL_WIDTH: usize = 6;
    /// The minimum width of a column. A column that would be narrower is removed.
    const MIN_WIDTH: usize = 4;
    let has_repetitions = rows.iter().any(|row| row.key.repetition > 0);
    let texts: [&dyn Fn(&CaseRow) -> String; 5] = [
        &|row| row.specs()[0].to_owned(),
        &|row| row.specs()[1].to_owned(),
        &|row| row.specs()[2].to_owned(),
        // The displayed number of a repetition starts at 1, as in the details panel.
        &|row| {
            if has_repetitions {
                format!("#{}", u64::from(row.key.repetition) + 1)
            } else {
                String::new()
            }
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
        wanted.iter().map(|(texts, _)| widest(texts)).collect()
    };
    while total_width(widths(&wanted), 2) > room {
        let Some(common) = wanted.iter().rposition(|(_, is_common)| *is_common) else { break };
        wanted.remove(common);
    }
    let least = |texts: &[String]| {
        Abbreviations::min_width(texts.iter().map(String::as_str), PREFERRED_WIDTH)
    };
    let (widths, gap) = loop {
        let full = widths(&wanted);
        if total_width(full.iter().copied(), 2) <= room {
            break (full, 2);
        }
        let different: Vec<u16> = wanted.iter().map(|(texts, _)| least(texts) as u16).collect();
        let narrow = vec![USEFUL_WIDTH as u16; full.len()];
        let ugly = vec![MIN_WIDTH as u16; full.len()];
        let candidates = [(&different, 2), (&different, 1), (&narrow, 1), (&ugly, 1)];
        let shrunk = candidates.into_iter().find_map(|(least, gap)| {
            let mut columns: Vec<_> = least.iter().copied().zip(full.iter().copied()).collect();
            let fits = shrink(&mut columns, |least| *least, gap, room);
            fits.then(|| (columns.into_iter().map(|(_, wide)| wide).collect(), gap))
        });
        match shrunk {
            Some(found) => break found,
            None if wanted.len() > 2 => drop(wanted.pop()),
            None => break (narrow, 1),
        }
    };
    let short = |(texts, _): &(Vec<String>, bool), wide| {
        Abbreviations::new(texts.iter().map(String::as_str), usize::from(wide))
    };
    let mut shorts: Vec<Abbreviations> =
        wanted.iter().zip(&widths).map(|(column, wide)| short(column, *wide)).collect();
    // If an abbreviation needs less than the width of its column, the next abbreviated column gets
    // the unused width.
    let needed = |(texts, _): &(Vec<String>, bool), short: &Abbreviations| -> u16 {
        widest(texts.iter().map(|text| short.get(text)))
    };
    let mut widths: Vec<u16> =
        wanted.iter().zip(&shorts).map(|(column, short)| needed(column, short)).collect();
    for at in 0..widths.len() {
        let free = room.saturating_sub(total_width(widths.iter().copied(), gap));
        shorts[at] = short(&wanted[at], widths[at] + free);
        widths[at] = needed(&wanted[at], &shorts[at]);
    }
    let columns = wanted.into_iter().zip(widths).zip(shorts);
    let columns = columns.map(|(((texts, _), wide), short)| {
        (texts.iter().map(|t| short.get(t).to_owned()).collect(), wide)
    });
    (columns.collect(), gap)
}

//! Fits the columns of a table into the available width.

pub(crate) fn total_width(widths: impl IntoIterator<Item = u16>, gap: u16) -> u16 {
    widths.into_iter().map(|wide| wide + gap).sum::<u16>().saturating_sub(gap)
}

/// Narrows the widest columns, but not below `least`, until all fit into `room`. Returns whether
/// they fit.
pub(crate) fn shrink<T>(
    columns: &mut [(T, u16)],
    least: impl Fn(&T) -> u16,
    gap: u16,
    room: u16,
) -> bool {
    while total_width(columns.iter().map(|(_, wide)| *wide), gap) > room {
        let over = columns.iter_mut().filter(|(column, wide)| *wide > least(column));
        let Some((_, wide)) = over.max_by_key(|(_, wide)| *wide) else { return false };
        *wide -= 1;
    }
    true
}

use std::sync::LazyLock;

/// An algorithm of a library, and the one of this project that sends the same messages.
#[derive(Debug)]
pub struct Counterpart {
    pub collective: &'static str,
    /// The library's name of the algorithm, or a pattern with `*` for several without counterparts.
    pub library: &'static str,
    /// This project's algorithm; `None` if no algorithm sends the same messages.
    pub ours: Option<&'static str>,
    /// When the library's algorithm sends these messages, as a condition; empty if always.
    condition: &'static str,
    /// The reason for this counterpart, or the reason why there is none.
    pub why: &'static str,
}

impl Counterpart {
    /// Returns whether the library's algorithm sends these messages for this number of ranks and
    /// this buffer size. Returns `None` if the condition cannot be evaluated.
    fn applies(&self, ranks: u64, buffer_bytes: u64) -> Option<bool> {
        Some(match self.condition {
            "" => true,
            "ranks <= 512" => ranks <= 512,
            "bytes >= 4 * ranks" => buffer_bytes >= 4 * ranks,
            "bytes <= 8 MiB" => buffer_bytes <= 8 << 20,
            _ => return None,
        })
    }
}

/// The buffer size in bytes from which algorithms have no counterpart. From this size on, the
/// measured ring algorithms take twice as long per byte, which no model of a network predicts.
pub const TOO_LARGE: u64 = 512 << 20;

pub static COUNTERPARTS: LazyLock<Vec<Counterpart>> =
    LazyLock::new(|| rows(include_str!("counterparts/fugaku.txt")));

pub static LUMI_COUNTERPARTS: LazyLock<Vec<Counterpart>> =
    LazyLock::new(|| rows(include_str!("counterparts/lumi.txt")));

/// Reads a table with one counterpart in each line. Lines that begin with `#` are comments.
fn rows(table: &'static str) -> Vec<Counterpart> {
    let row = |line: &'static str| {
        let mut cells = line.split('|').map(str::trim);
        let mut next = || cells.next().unwrap_or_default();
        let [collective, library, ours, condition, why] = std::array::from_fn(|_| next());
        let ours = Some(ours).filter(|name| !name.is_empty());
        Counterpart { collective, library, ours, condition, why }
    };
    table.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Returns the counterpart of the algorithm of a measurement, if there is one. `buffer_bytes` is
/// the size of the larger buffer of a rank, and must be below [`TOO_LARGE`].
pub fn counterpart(
    collective: &str,
    library: &str,
    ranks: u64,
    buffer_bytes: u64,
) -> Option<&'static str> {
    let mut all = COUNTERPARTS.iter().chain(LUMI_COUNTERPARTS.iter());
    let found = all.find(|row| row.collective == collective && row.library == library)?;
    let applies = buffer_bytes < TOO_LARGE && found.applies(ranks, buffer_bytes)?;
    found.ours.filter(|_| applies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_known_condition_and_no_further_cell() {
        for row in COUNTERPARTS.iter().chain(LUMI_COUNTERPARTS.iter()) {
            assert!(row.applies(1, 1).is_some(), "{row:?}");
        }
        for table in
            [include_str!("counterparts/fugaku.txt"), include_str!("counterparts/lumi.txt")]
        {
            let rows = table.lines().filter(|line| !line.starts_with('#'));
            rows.for_each(|row| assert_eq!(row.matches('|').count(), 4, "{row}"));
        }
    }
}

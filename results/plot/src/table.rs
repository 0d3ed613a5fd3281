//! The data of a figure as CSV.

/// Formats rows as CSV; the first row has the names of the columns.
pub(crate) fn csv<R>(rows: impl IntoIterator<Item = R>) -> Result<String, csv::Error>
where
    R: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

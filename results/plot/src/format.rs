use std::path::Path;

/// The file format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum FigureFormat {
    /// Vector graphics for web pages.
    Svg,
    /// Pixel graphics.
    Png,
    /// A PDF page of the figure's size.
    Pdf,
    /// LaTeX source for pgfplots.
    Pgfplots,
    /// The plotted points.
    Csv,
}

impl FigureFormat {
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            "tex" => Some(Self::Pgfplots),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

//! The colours of the terminal, and contrast ratios for the tests of themes and of screens.

use ratatui::style::Color;

/// Returns the contrast ratio of a text.
#[cfg(test)]
pub(crate) fn contrast(front: Color, back: Color, is_light: bool) -> f64 {
    let (text, ground) = if is_light { ([0; 3], [255; 3]) } else { ([255; 3], [0; 3]) };
    ratio(rgb(front, text), rgb(back, ground))
}

/// Returns the red, green and blue values of a colour, as in xterm.
pub(crate) fn rgb(color: Color, default: [u8; 3]) -> [u8; 3] {
    match color {
        Color::Reset => default,
        Color::Black => [0, 0, 0],
        Color::Green => [0, 205, 0],
        Color::Yellow => [205, 205, 0],
        Color::Cyan => [0, 205, 205],
        Color::Gray => [229, 229, 229],
        Color::LightRed => [255, 0, 0],
        Color::LightMagenta => [255, 0, 255],
        Color::Indexed(index @ 232..) => [8 + 10 * (index - 232); 3],
        Color::Indexed(index @ 16..) => {
            let index = index - 16;
            [index / 36, index / 6 % 6, index % 6]
                .map(|level| if level == 0 { 0 } else { 55 + 40 * level })
        }
        Color::Rgb(r, g, b) => [r, g, b],
        other => unreachable!("no theme has the colour {other}, which depends on the terminal"),
    }
}

/// Returns the contrast ratio of two colours as defined by WCAG 2.
#[cfg(test)]
pub(crate) fn ratio(a: [u8; 3], b: [u8; 3]) -> f64 {
    let linear = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance =
        |[r, g, b]: [u8; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

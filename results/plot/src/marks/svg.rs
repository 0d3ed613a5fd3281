use super::scene::{Anchor, Colour, Mark, Scene, ShapeStyle};
use super::text::CELL_FONT;
use std::fmt::Write as _;
use swapmeet_results::escaped;

/// Returns SVG. `width` and `height` are lengths with units, such as `84mm`.
pub(super) fn svg(scene: &Scene, label: &str, (width, height): (&str, &str)) -> String {
    let (w, h) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         aria-label=\"{}\" style=\"max-width:100%;height:auto\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
        escaped(label)
    );
    for mark in &scene.marks {
        self::mark(&mut out, mark, scene.dash);
    }
    out += "</svg>\n";
    out
}

fn mark(out: &mut String, mark: &Mark, dash: f64) {
    // Writing to a String cannot fail.
    let _ = match mark {
        Mark::Lines { points, closed, look, hint } => {
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
            let name = if *closed { "polygon" } else { "polyline" };
            let (points, look) = (points.join(" "), attributes(look, dash));
            writeln!(out, "<{name} points=\"{points}\"{look}{}", end(name, hint.as_deref()))
        }
        Mark::Circle { centre: (x, y), radius, look, hint } => {
            let (x, y, r) = (number(*x), number(*y), number(*radius));
            writeln!(
                out,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{}{}",
                attributes(look, dash),
                end("circle", hint.as_deref())
            )
        }
        Mark::Cells { at: (x, y), words, length, colour: front, is_bold } => {
            let (x, y, length) = (number(*x), number(*y), number(*length));
            let bold = if *is_bold { " font-weight=\"bold\"" } else { "" };
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" \
                 font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"{}\" \
                 style=\"white-space:pre\" fill=\"{}\"{bold}>{}</text>",
                number(CELL_FONT),
                colour(*front),
                escaped(words)
            )
        }
        Mark::Text(text) => {
            let (x, y) = (number(text.at.0), number(text.at.1));
            let anchor = match text.anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let turn = if text.turned {
                format!(" transform=\"rotate(-90 {x} {y})\"")
            } else {
                String::new()
            };
            let edge = number(0.25 * text.size);
            let halo = if text.halo {
                format!(" stroke=\"#ffffff\" stroke-width=\"{edge}\" paint-order=\"stroke\"")
            } else {
                String::new()
            };
            let (size, words) = (number(text.size), escaped(&text.words));
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{turn}{halo}>{words}</text>"
            )
        }
    };
}

fn end(name: &str, hint: Option<&str>) -> String {
    hint.map_or("/>".to_owned(), |hint| format!("><title>{}</title></{name}>", escaped(hint)))
}

fn attributes(look: &ShapeStyle, dash: f64) -> String {
    let mut out = format!(" fill=\"{}\"", look.fill.map_or("none".to_owned(), colour));
    if let Some(stroke) = look.stroke {
        let _ = write!(
            out,
            " stroke=\"{}\" stroke-width=\"{}\"",
            colour(stroke.colour),
            number(stroke.width)
        );
        if !stroke.dashes.is_empty() {
            let dashes: Vec<String> =
                stroke.dashes.iter().map(|length| number(length * dash)).collect();
            let _ = write!(out, " stroke-dasharray=\"{}\"", dashes.join(" "));
        }
    }
    out
}

fn colour(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn number(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

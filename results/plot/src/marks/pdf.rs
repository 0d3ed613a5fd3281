//! Writes PDF with pdf-writer. Letters are drawn as outlines, so the page needs no font.

use super::outline::Step;
use super::scene::{Colour, Scene};
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::LineCapStyle;
use pdf_writer::{Content, Filter, Finish, Pdf, Rect, Ref, TextStr};

/// The number of points (1/72 inch) in a pixel (1/96 inch).
const POINT: f32 = 0.75;

pub(super) fn pdf(scene: &Scene, title: &str) -> Vec<u8> {
    let [catalog, pages, page, contents, info] = [1, 2, 3, 4, 5].map(Ref::new);
    let (width, height) = (scene.width as f32 * POINT, scene.height as f32 * POINT);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut only = pdf.page(page);
    only.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(contents);
    only.resources();
    only.finish();
    let drawn = compress_to_vec_zlib(&content(scene, height), 6);
    pdf.stream(contents, &drawn).filter(Filter::FlateDecode);
    pdf.document_info(info).title(TextStr(title)).creator(TextStr("swapmeet"));
    pdf.finish()
}

fn content(scene: &Scene, height: f32) -> Vec<u8> {
    let mut content = Content::new();
    // In PDF, the y axis points upwards, so it is inverted here.
    content.transform([POINT, 0.0, 0.0, -POINT, 0.0, height]);
    let narrow = |(x, y): (f64, f64)| (x as f32, y as f32);
    for shape in scene.shapes() {
        // In PDF, the colour and the line style must be set before the path is drawn.
        if let Some(stroke) = shape.look.stroke {
            let [r, g, b] = shares(stroke.colour);
            content
                .set_stroke_rgb(r, g, b)
                .set_line_width(stroke.width as f32)
                .set_line_cap(LineCapStyle::ButtCap);
            content.set_dash_pattern(
                stroke.dashes.iter().map(|length| (length * scene.dash) as f32),
                0.0,
            );
        }
        if let Some(colour) = shape.look.fill {
            let [r, g, b] = shares(colour);
            content.set_fill_rgb(r, g, b);
        }
        for step in &shape.outline.0 {
            match *step {
                Step::Move(to) => {
                    let (x, y) = narrow(to);
                    content.move_to(x, y);
                }
                Step::Line(to) => {
                    let (x, y) = narrow(to);
                    content.line_to(x, y);
                }
                Step::Curve(a, b, to) => {
                    let ((ax, ay), (bx, by), (x, y)) = (narrow(a), narrow(b), narrow(to));
                    content.cubic_to(ax, ay, bx, by, x, y);
                }
                Step::Close => {
                    content.close_path();
                }
            }
        }
        match (shape.look.fill, shape.look.stroke) {
            (Some(_), Some(_)) => content.fill_nonzero_and_stroke(),
            (Some(_), None) => content.fill_nonzero(),
            (None, Some(_)) => content.stroke(),
            (None, None) => content.end_path(),
        };
    }
    content.finish().to_vec()
}

fn shares(Colour(r, g, b): Colour) -> [f32; 3] {
    [r, g, b].map(|share| f32::from(share) / 255.0)
}

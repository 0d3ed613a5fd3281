use super::DrawError;
use super::outline::{Outline, Step};
use super::scene::{Colour, Scene};
use tiny_skia::{FillRule, LineCap, Paint, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};

pub(super) fn png(scene: &Scene, scale: f64) -> Result<Vec<u8>, DrawError> {
    let (width, height) = ((scene.width * scale).ceil(), (scene.height * scale).ceil());
    let mut pixels =
        Pixmap::new(width as u32, height as u32).ok_or(DrawError::Size { width, height })?;
    pixels.fill(tiny_skia::Color::WHITE);
    let transform = Transform::from_scale(scale as f32, scale as f32);
    for shape in scene.shapes() {
        let Some(path) = path(&shape.outline) else { continue };
        if let Some(colour) = shape.look.fill {
            pixels.fill_path(&path, &paint(colour), FillRule::Winding, transform, None);
        }
        if let Some(stroke) = shape.look.stroke {
            let dashes =
                stroke.dashes.iter().map(|length| (length * scene.dash) as f32).collect::<Vec<_>>();
            let look = Stroke {
                width: stroke.width as f32,
                line_cap: LineCap::Butt,
                dash: StrokeDash::new(dashes, 0.0),
                ..Stroke::default()
            };
            pixels.stroke_path(&path, &paint(stroke.colour), &look, transform, None);
        }
    }
    pixels.encode_png().map_err(|error| DrawError::Png(error.to_string()))
}

fn paint(Colour(r, g, b): Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

/// Returns the path of an outline. Returns `None` if the outline is empty, as for a text of spaces.
fn path(outline: &Outline) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    let narrow = |(x, y): (f64, f64)| (x as f32, y as f32);
    for step in &outline.0 {
        match *step {
            Step::Move(to) => {
                let (x, y) = narrow(to);
                path.move_to(x, y);
            }
            Step::Line(to) => {
                let (x, y) = narrow(to);
                path.line_to(x, y);
            }
            Step::Curve(a, b, to) => {
                let ((ax, ay), (bx, by), (x, y)) = (narrow(a), narrow(b), narrow(to));
                path.cubic_to(ax, ay, bx, by, x, y);
            }
            Step::Close => path.close(),
        }
    }
    path.finish()
}

//! Dashes cut into pieces: the library's raster begins its pattern anew at every point of a line, so that a curve of many points comes out solid.

use kuva::render::render::{Primitive, Scene};

/// Replaces every dashed line by its dashes.
pub fn cut(scene: &mut Scene) {
    let elements = std::mem::take(&mut scene.elements);
    for element in elements {
        match element {
            Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: Some(dashes) } => {
                for points in pieces(&points, &lengths(&dashes)) {
                    let stroke = stroke.clone();
                    scene.elements.push(Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: None });
                }
            }
            Primitive::Line { x1, y1, x2, y2, stroke, stroke_width, stroke_dasharray: Some(dashes) } => {
                for points in pieces(&[(x1, y1), (x2, y2)], &lengths(&dashes)) {
                    let stroke = stroke.clone();
                    scene.elements.push(Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: None });
                }
            }
            other => scene.elements.push(other),
        }
    }
}

/// The lengths of `stroke-dasharray`: dash, gap, dash, ..
fn lengths(dashes: &str) -> Vec<f64> {
    let lengths = dashes.split([' ', ',']).filter_map(|word| word.parse().ok());
    lengths.filter(|length: &f64| length.is_finite() && *length > 0.0).collect()
}

/// The dashes along a line of points.
fn pieces(points: &[(f64, f64)], lengths: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if lengths.len() < 2 {
        return vec![points.to_vec()];
    }
    let mut done = Vec::new();
    let mut piece: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    let (mut index, mut left) = (0, lengths[0]);
    for pair in points.windows(2) {
        let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
        let length = (to_x - x).hypot(to_y - y);
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let at = (x + (to_x - x) * gone / length, y + (to_y - y) * gone / length);
            if index % 2 == 0 {
                piece.push(at);
                done.push(std::mem::take(&mut piece));
            } else {
                piece = vec![at];
            }
            index = (index + 1) % (2 * lengths.len());
            left = lengths[index % lengths.len()];
        }
        left -= length - gone;
        if index % 2 == 0 {
            piece.push((to_x, to_y));
        }
    }
    if piece.len() > 1 {
        done.push(piece);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_goes_on_over_the_points_of_a_line() {
        let points: Vec<(f64, f64)> = (0..=20).map(|x| (f64::from(x), 0.0)).collect();
        let ends: Vec<(f64, f64)> =
            pieces(&points, &lengths("4.5 2.5")).iter().map(|piece| (piece[0].0, piece[piece.len() - 1].0)).collect();
        assert_eq!(ends, [(0.0, 4.5), (7.0, 11.5), (14.0, 18.5)]);
        assert_eq!(pieces(&points, &lengths("none")), [points]);
    }
}

//! A picture drawn at twice its size and halved: the library's raster turns text (the label of the y axis) pixel by pixel, which shows at its
//! own size.

use std::io::Cursor;

/// Halves a PNG; each pixel is the mean of four.
pub fn halved(png: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let info = reader.next_frame(&mut pixels)?;
    if info.bit_depth != png::BitDepth::Eight {
        return Err("expected eight bits a channel".into());
    }
    let samples = info.color_type.samples();
    let (width, height) = (info.width as usize / 2, info.height as usize / 2);
    let at = |x: usize, y: usize, channel: usize| u32::from(pixels[y * info.line_size + x * samples + channel]);
    let mut small = Vec::with_capacity(width * height * samples);
    for y in 0..height {
        for x in 0..width {
            for c in 0..samples {
                let four = at(2 * x, 2 * y, c)
                    + at(2 * x + 1, 2 * y, c)
                    + at(2 * x, 2 * y + 1, c)
                    + at(2 * x + 1, 2 * y + 1, c);
                small.push((four / 4) as u8);
            }
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(info.color_type);
    encoder.set_depth(info.bit_depth);
    encoder.write_header()?.write_image_data(&small)?;
    Ok(out)
}

/// Returns the length of a step, from 0 to 1, that minimizes a sum of exponential functions of this
/// length. For each function, `terms` has its slope at 0 and the factor in its exponent. The sum is
/// convex, so bisection finds the zero of its slope.
pub fn best_step<I: Iterator<Item = (f32, f32)>>(terms: impl Fn() -> I, bisections: u32) -> f32 {
    let slope = |step: f32| terms().map(|(first, rate)| first * fast_exp(step * rate)).sum::<f32>();
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    if slope(1.0) <= 0.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..bisections {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 { high = middle } else { low = middle }
    }
    if low == 0.0 { high * 0.5 } else { low }
}

/// Returns e^x with a relative error of about 1e-5. It computes a power of two times a polynomial
/// in the fraction of the exponent, because compilers can vectorize this form.
#[inline]
pub fn fast_exp(x: f32) -> f32 {
    let exponent = (x * std::f32::consts::LOG2_E).clamp(-120.0, 120.0);
    let whole = exponent.floor();
    let part = exponent - whole;
    let ln_2 = std::f32::consts::LN_2;
    let mantissa = 1.0
        + part
            * (ln_2
                + part
                    * (0.240_226_5
                        + part * (0.055_490_6 + part * (0.009_678_1 + part * 0.001_894_3))));
    f32::from_bits(((whole as i32 + 127) << 23) as u32) * mantissa
}

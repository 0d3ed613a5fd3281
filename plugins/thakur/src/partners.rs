/// The partner of Fig. 1.
pub fn pex_partner(me: u64, i: u64) -> u64 {
    me ^ i
}

/// Fig. 2: the rule of Fig. 1 among q processors, the smallest power of two that is at least p.
pub fn pex_gen_partner(me: u64, j: u64, p: u64) -> Option<u64> {
    Some(me ^ j).filter(|partner| *partner < p)
}

/// Fig. 4: the rule of Fig. 2 with the processors numbered from (q - p) / 2 on, so that the numbers
/// without a processor are at both ends.
///
/// Erratum: the paper prints this number modulo p. The relation is then not symmetric, and some
/// processors exchange with themselves. Fig. 3 (processors 0..19 become 6..25) shows that no
/// modulus is meant. The paper also adds q to negative destinations, which never gives a processor;
/// this is omitted.
pub fn pex_gen_shift_partner(me: u64, j: u64, p: u64) -> Option<u64> {
    let shift = shift(p);
    let virtual_destination = (me + shift) ^ j;
    virtual_destination.checked_sub(shift).filter(|partner| *partner < p)
}

/// Returns the number of processor 0 in Fig. 4.
pub fn shift(p: u64) -> u64 {
    (p.next_power_of_two() - p) / 2
}

/// The receiver of Fig. 5.
pub fn gen_destination(me: u64, j: u64, p: u64) -> u64 {
    (me + j) % p
}

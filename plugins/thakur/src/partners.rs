/// Fig. 1: returns the partner of a processor.
pub fn pex_partner(me: u64, i: u64) -> u64 {
    me ^ i
}

/// Fig. 2: the rule of Fig. 1 among q processors, the smallest power of two that is at least p.
pub fn pex_gen_partner(me: u64, j: u64, p: u64) -> Option<u64> {
    Some(me ^ j).filter(|partner| *partner < p)
}

/// Fig. 4: the rule of Fig. 2, with the processors numbered from (q - p) / 2 on. The numbers
/// without a processor are thus at both ends.
///
/// Erratum: the paper prints the number of a processor modulo p. The relation is then not
/// symmetric, and some processors exchange with themselves. Fig. 3 (processors 0..19 become 6..25)
/// shows that no modulus is meant. The paper also adds q to negative destinations. This never gives
/// a processor, so it is omitted here.
pub fn pex_gen_shift_partner(me: u64, j: u64, p: u64) -> Option<u64> {
    let shift = shift(p);
    let virtual_destination = (me + shift) ^ j;
    virtual_destination.checked_sub(shift).filter(|partner| *partner < p)
}

/// Returns the number of processor 0 in Fig. 4.
pub fn shift(p: u64) -> u64 {
    (p.next_power_of_two() - p) / 2
}

/// Fig. 5: returns the receiver.
pub fn gen_destination(me: u64, j: u64, p: u64) -> u64 {
    (me + j) % p
}

use swapmeet_plugin_thakur::partners::{
    gen_destination, pex_gen_partner, pex_gen_shift_partner, pex_partner, shift,
};

#[test]
fn table_1_the_pairs_of_pex_on_8_processors() {
    let pairs =
        |i| (0..8).map(|me| (me, pex_partner(me, i))).filter(|(a, b)| a < b).collect::<Vec<_>>();
    let table_1 = [
        [(0, 1), (2, 3), (4, 5), (6, 7)],
        [(0, 2), (1, 3), (4, 6), (5, 7)],
        [(0, 3), (1, 2), (4, 7), (5, 6)],
        [(0, 4), (1, 5), (2, 6), (3, 7)],
        [(0, 5), (1, 4), (2, 7), (3, 6)],
        [(0, 6), (1, 7), (2, 4), (3, 5)],
        [(0, 7), (1, 6), (2, 5), (3, 4)],
    ];
    for (i, row) in (1..).zip(table_1) {
        assert_eq!(pairs(i), row, "step {i}");
    }
}

#[test]
fn fig_3_20_processors_become_6_to_25_of_32() {
    assert_eq!((shift(20), 19 + shift(20)), (6, 25));
    assert_eq!(shift(32), 0);
}

#[test]
fn every_pair_exchanges_once() {
    for partner in [pex_gen_partner as fn(u64, u64, u64) -> Option<u64>, pex_gen_shift_partner] {
        for p in 1..70_u64 {
            for me in 0..p {
                let mut partners: Vec<u64> =
                    (1..p.next_power_of_two()).filter_map(|j| partner(me, j, p)).collect();
                partners.sort_unstable();
                assert_eq!(partners, (0..p).filter(|other| *other != me).collect::<Vec<_>>());
                assert!((1..p.next_power_of_two()).all(|j| {
                    partner(me, j, p).is_none_or(|other| partner(other, j, p) == Some(me))
                }));
            }
        }
    }
}

#[test]
fn fig_5_each_processor_sends_to_each_other_one_once() {
    for p in 1..70_u64 {
        for j in 1..p {
            let mut receivers: Vec<u64> = (0..p).map(|me| gen_destination(me, j, p)).collect();
            receivers.sort_unstable();
            assert_eq!(receivers, (0..p).collect::<Vec<_>>());
        }
        for me in 0..p {
            let mut partners: Vec<u64> = (1..p).map(|j| gen_destination(me, j, p)).collect();
            partners.sort_unstable();
            assert_eq!(partners, (0..p).filter(|other| *other != me).collect::<Vec<_>>());
        }
    }
}

fn fig_4_as_printed(me: u64, j: u64, p: u64) -> Option<u64> {
    let (q, shift) = (p.next_power_of_two() as i64, shift(p) as i64);
    let my_virtual = (me as i64 + shift) % p as i64;
    let mut destination = (my_virtual ^ j as i64) - shift;
    if destination < 0 {
        destination += q;
    }
    (destination < p as i64).then_some(destination as u64)
}

#[test]
fn fig_4_as_printed_does_not_pair_20_processors() {
    let mutual = |j: u64| {
        (0..20).all(|me| {
            fig_4_as_printed(me, j, 20)
                .is_none_or(|to| to != me && fig_4_as_printed(to, j, 20) == Some(me))
        })
    };
    assert_eq!(
        (1..32).filter(|j| !mutual(*j)).count(),
        30,
        "steps of 31 with partners that do not choose each other"
    );
}

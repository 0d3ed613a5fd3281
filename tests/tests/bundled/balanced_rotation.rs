use swapmeet_balanced_rotation::Square;

mod partition {
    use super::*;
    use swapmeet_balanced_rotation::{Parameters, sections};

    /// Checks that every node is in one section, that no link of a cycle lies within two sections,
    /// and that no link carries more than q circuits. Returns the size of the largest section.
    fn check(n: u64, q: u64, one_port: bool) -> usize {
        let squares = Square::all(n);
        let sections = sections(&squares, Parameters { n, q, one_port }).unwrap_or_default();
        let mut times = vec![0; (n * n) as usize];
        for (i, square) in squares.iter().enumerate() {
            let around = 4 * square.side as i64;
            let mut within = vec![0; around as usize];
            let mut loads = vec![[0; 2]; around as usize];
            for section in sections.iter().filter(|section| section.square == i) {
                for position in &section.positions {
                    let (x, y) = square.node(*position);
                    times[(x * n + y) as usize] += 1;
                }
                assert!(section.positions.is_sorted());
                let (first, last) =
                    (section.positions[0], section.positions[section.positions.len() - 1]);
                (first..last).for_each(|link| within[link.rem_euclid(around) as usize] += 1);
                let at = section.positions[section.collector];
                let back = usize::from(!section.forward);
                let passed =
                    if section.forward { at..at + around / 4 } else { at - around * 3 / 4..at };
                passed.for_each(|link| loads[link.rem_euclid(around) as usize][back] += 1);
            }
            assert!(within.iter().all(|sections| *sections <= 1), "{n}, q = {q}: sections overlap");
            assert!(
                loads.iter().flatten().all(|load| *load <= q),
                "{n}, q = {q}: more than q circuits"
            );
        }
        assert!(
            times.iter().all(|times| *times == 1),
            "{n}, q = {q}: a node is in no section, or two"
        );
        sections.iter().map(|section| section.positions.len()).max().unwrap_or(0)
    }

    #[test]
    fn sections_are_disjoint_and_have_n_4q_nodes() {
        for one_port in [false, true] {
            for q in 1..=9 {
                for n in (2..=40).step_by(2) {
                    assert_eq!(
                        check(n, q, one_port),
                        n.div_ceil(4 * q) as usize,
                        "{n}, q = {q}, one port: {one_port}"
                    );
                }
            }
        }
    }

    #[test]
    fn larger_tori_need_no_search() {
        for (n, q) in [(108, 1), (200, 1), (64, 2), (120, 2), (200, 2), (180, 3), (160, 4)] {
            assert_eq!(check(n, q, false), n.div_ceil(4 * q) as usize, "{n}, q = {q}");
        }
    }
}

mod share {
    use swapmeet_balanced_rotation::share;

    #[test]
    fn chains_of_exchanges_pass_full_buckets() {
        // Item 0 cannot be in bucket 0, which has no room. It gets bucket 1, so item 1 moves to
        // bucket 2.
        assert_eq!(share(&[[0, 1], [1, 2]], &[0, 1, 1]), Some(vec![1, 1]));
        assert_eq!(share(&[[0, 1], [0, 1], [0, 1]], &[1, 1]), None);
    }

    #[test]
    fn an_assignment_is_found_if_one_exists() {
        let digits = |number: usize, base: usize, count: u32| -> Vec<usize> {
            (0..count).map(|place| number / base.pow(place) % base).collect()
        };
        for pairs in 0..9_usize.pow(3) {
            let items: Vec<[usize; 2]> =
                digits(pairs, 9, 3).iter().map(|pair| [pair / 3, pair % 3]).collect();
            for rooms in 0..4_usize.pow(3) {
                let room = digits(rooms, 4, 3);
                let fits = |chosen: &[usize]| {
                    (0..3).all(|bucket| {
                        (0..3).filter(|i| items[*i][chosen[*i]] == bucket).count() <= room[bucket]
                    })
                };
                let found = share(&items, &room);
                match &found {
                    Some(chosen) => assert!(fits(chosen), "{items:?} in {room:?}: {chosen:?}"),
                    None => assert!(
                        (0..8).all(|choice| !fits(&digits(choice, 2, 3))),
                        "{items:?} in {room:?}"
                    ),
                }
            }
        }
    }
}

mod squares {
    use super::*;

    use std::collections::HashSet;

    #[test]
    fn every_node_is_on_two_squares_and_every_link_on_one() {
        for n in [2, 4, 6, 8, 12, 20] {
            let rings = Square::all(n);
            let mut met = vec![0; (n * n) as usize];
            let mut links = HashSet::new();
            for ring in &rings {
                for position in 0..ring.nodes.len() as i64 {
                    let (x, y) = ring.node(position);
                    met[(x * n + y) as usize] += 1;
                    assert_eq!(
                        ring.node(position + ring.side as i64),
                        (y, n - 1 - x),
                        "a quarter on is the image"
                    );
                    let next = ring.node(position + 1);
                    let ahead = |a: u64, b: u64| (b + n - a) % n;
                    let (dx, dy) = (ahead(x, next.0), ahead(y, next.1));
                    assert!(
                        [(1, 0), (n - 1, 0), (0, 1), (0, n - 1)].contains(&(dx, dy)),
                        "{position} and the next aren't neighbours"
                    );
                    assert!(n == 2 || links.insert(((x, y), next)), "n = {n}");
                }
            }
            assert!(met.iter().all(|times| *times == 2), "n = {n}");
        }
    }
}

use super::*;
use crate::delivery::collective::SizeTable;
use crate::delivery::grid::Grid;
use proptest::prelude::*;

fn byte_counts(table: Vec<Vec<u64>>, element_bytes: u64) -> Result<ByteCounts<u32>, Fault> {
    let nodes = table.len() as u64;
    let embedding = Embedding::new(Grid::new(&[nodes]).unwrap(), nodes);
    ByteCounts::new(
        embedding,
        Some(Arc::new(SizeTable(table))),
        ByteCountUnits { block_bytes: 0, element_bytes },
    )
}

fn uniform(nodes: u64, bytes: u64) -> ByteCounts<u32> {
    byte_counts(vec![vec![bytes; nodes as usize]; nodes as usize], 1).unwrap()
}

fn redistribute(node: u64, buckets: u64) -> Redistribution<'static> {
    Redistribution { node, buckets, cycle: buckets, first: 0, starts: &[], firsts: &[] }
}

fn send(from: u64, to: u64, what: ByteSelection<'_>) -> ByteSend<'_> {
    ByteSend { from, to, local: true, what }
}

fn step<T: ElementCount>(x: &mut ByteCounts<T>, sends: &[ByteSend<'_>]) -> Result<(), Fault> {
    x.begin_step();
    for one in sends {
        x.send(one)?;
    }
    x.end_step()
}

fn message<T: std::fmt::Debug>(result: Result<T, Fault>) -> String {
    result.unwrap_err().to_string()
}

fn finish(x: &mut ByteCounts<u32>, nodes: u64) -> Result<(), Fault> {
    for distance in 1..nodes {
        let to = |from| (from + distance) % nodes;
        let all: Vec<_> = (0..nodes).map(|from| [(to(from), ALL_BYTES)]).collect();
        let sends: Vec<_> = (0..nodes)
            .zip(&all)
            .map(|(from, all)| send(from, to(from), ByteSelection::Listed(all)))
            .collect();
        step(x, &sends)?;
    }
    x.verify()
}

#[test]
fn buckets_arrive_at_their_receivers() {
    let mut x = byte_counts(vec![vec![0, 0, 5], vec![0; 3], vec![0; 3]], 1).unwrap();
    x.redistribute(&redistribute(0, 3)).unwrap();
    x.begin_step();
    let loads: Vec<_> =
        (0..3).map(|h| x.send(&send(0, h, ByteSelection::Bucket(h))).unwrap()).collect();
    assert_eq!(loads, [Some(2), Some(2), Some(1)]);
    x.end_step().unwrap();
    assert_eq!(
        (x.loads.held(), x.loads.peak()),
        (&[2, 2, 1][..], 5),
        "the peak includes the start"
    );
    step(
        &mut x,
        &[
            send(0, 2, ByteSelection::Listed(&[(2, ALL_BYTES)])),
            send(1, 2, ByteSelection::Listed(&[(2, 2)])),
        ],
    )
    .unwrap();
    x.verify().unwrap();
}

#[test]
fn misplaced_buckets_of_the_last_step_are_reported() {
    let mut x = byte_counts(vec![vec![0, 0, 5], vec![0; 3], vec![0; 3]], 1).unwrap();
    x.redistribute(&redistribute(0, 3)).unwrap();
    step(&mut x, &[0, 1, 2].map(|h| send(0, h, ByteSelection::Bucket(h)))).unwrap();
    insta::assert_snapshot!(message(x.verify()), @"after step 1: node 0 still holds 2 bytes for node 2; misplaced in total: 4 bytes at 2 nodes");
}

#[test]
fn an_empty_bucket_is_an_empty_send() {
    let mut x = byte_counts(vec![vec![0, 1], vec![0, 0]], 1).unwrap();
    x.redistribute(&redistribute(0, 2)).unwrap();
    x.begin_step();
    assert_eq!(x.send(&send(0, 1, ByteSelection::Bucket(0))).unwrap(), Some(1));
    assert_eq!(x.send(&send(0, 1, ByteSelection::Bucket(1))).unwrap(), None);
    x.end_step().unwrap();
    x.verify().unwrap();
}

#[test]
fn bytes_cannot_be_forwarded_in_the_step_of_their_arrival() {
    let mut x = byte_counts(vec![vec![0, 0, 4], vec![0; 3], vec![0; 3]], 1).unwrap();
    x.redistribute(&redistribute(0, 1)).unwrap();
    let too_early = step(
        &mut x,
        &[send(0, 1, ByteSelection::Bucket(0)), send(1, 2, ByteSelection::Listed(&[(2, 4)]))],
    );
    insta::assert_snapshot!(message(too_early), @"step 1: the send of bytes from node 1 to node 2 names 4 bytes for node 2, but node 1 holds only 0");
}

#[test]
fn received_buckets_can_be_redistributed_before_the_last_is_sent() {
    let mut x = uniform(3, 6);
    x.redistribute(&redistribute(0, 2)).unwrap();
    step(&mut x, &[send(0, 1, ByteSelection::Bucket(0))]).unwrap();
    x.redistribute(&redistribute(1, 3)).unwrap();
    step(
        &mut x,
        &[
            send(1, 0, ByteSelection::Bucket(0)),
            send(1, 1, ByteSelection::Bucket(1)),
            send(1, 2, ByteSelection::Bucket(2)),
        ],
    )
    .unwrap();
    step(&mut x, &[send(0, 2, ByteSelection::Bucket(1))]).unwrap();
    assert_eq!(x.loads.held(), [9, 9, 36]);
    finish(&mut x, 3).unwrap();
    assert_eq!(x.loads.held(), [18, 18, 18]);
}

#[test]
fn misplaced_bytes_and_unsent_buckets_are_reported() {
    let mut x = uniform(3, 2);
    step(
        &mut x,
        &[send(0, 1, ByteSelection::Listed(&[(0, ALL_BYTES), (1, ALL_BYTES), (2, ALL_BYTES)]))],
    )
    .unwrap();
    insta::assert_snapshot!(message(x.verify()), @"after step 1: node 1 still holds 4 bytes for node 0; misplaced in total: 12 bytes at 2 nodes");
    let mut x = uniform(2, 1);
    x.redistribute(&redistribute(1, 2)).unwrap();
    step(&mut x, &[send(1, 0, ByteSelection::Bucket(0))]).unwrap();
    insta::assert_snapshot!(message(x.verify()), @"after step 1: node 1 has not sent bucket 1 of what it redistributed");
}

#[test]
fn invalid_redistributions_are_refused() {
    let refused =
        |redistribution: &Redistribution<'_>| message(uniform(3, 2).redistribute(redistribution));
    insta::assert_snapshot!(refused(&redistribute(3, 2)), @"after step 0: node 3 is unknown, the schedule's grid has nodes 0 to 2");
    insta::assert_snapshot!(refused(&redistribute(0, 0)), @"after step 0: node 0 redistributes with 0 buckets, expected 1 to 65536");
    insta::assert_snapshot!(refused(&Redistribution { cycle: 0, ..redistribute(0, 2) }), @"after step 0: node 0 redistributes with 0 elements a cycle, expected 1 to 2147483648");
    insta::assert_snapshot!(refused(&Redistribution { first: 2, ..redistribute(0, 2) }), @"after step 0: node 0 begins with bucket 2 of 2");
    insta::assert_snapshot!(refused(&Redistribution { starts: &[0, 1], ..redistribute(0, 2) }), @"after step 0: node 0 has 2 starts, expected one for each of 3 nodes");
    insta::assert_snapshot!(refused(&Redistribution { firsts: &[0, 1, 7], ..redistribute(0, 2) }), @"after step 0: node 0 has 7 in its firsts for destination 2, expected below 2");
    let mut x = uniform(3, 2);
    x.redistribute(&redistribute(0, 2)).unwrap();
    insta::assert_snapshot!(message(x.redistribute(&redistribute(0, 2))), @"after step 0: node 0 redistributes again, but has not sent bucket 0 of its last redistribution");
}

#[test]
fn invalid_sends_are_refused() {
    let refused = |what| {
        let mut x = uniform(3, 2);
        x.redistribute(&redistribute(0, 2)).unwrap();
        x.begin_step();
        x.send(&send(0, 1, ByteSelection::Bucket(0))).unwrap();
        message(x.send(&what))
    };
    insta::assert_snapshot!(refused(send(0, 1, ByteSelection::Bucket(0))), @"step 1: the send of bytes from node 0 to node 1 selects bucket 0, which node 0 has already sent");
    insta::assert_snapshot!(refused(send(0, 1, ByteSelection::Bucket(2))), @"step 1: the send of bytes from node 0 to node 1 selects bucket 2, but node 0 redistributed buckets 0 to 1");
    insta::assert_snapshot!(refused(send(1, 0, ByteSelection::Bucket(0))), @"step 1: the send of bytes from node 1 to node 0 selects bucket 0, but node 1 has redistributed nothing");
    insta::assert_snapshot!(refused(send(1, 0, ByteSelection::Listed(&[(3, 1)]))), @"step 1: the send of bytes from node 1 to node 0 names bytes for node 3, the last node is 2");
    insta::assert_snapshot!(refused(send(1, 5, ByteSelection::Bucket(0))), @"step 1: receiver 5 is unknown, the schedule's grid has nodes 0 to 2");
    insta::assert_snapshot!(refused(ByteSend { local: false, ..send(1, 1, ByteSelection::Bucket(0)) }), @"step 1: node 1 sends to itself (a local copy must be marked as such)");
}

#[test]
fn bytes_must_be_multiples_of_the_element_size() {
    let mut x = byte_counts(vec![vec![8, 12], vec![8, 8]], 8).unwrap();
    insta::assert_snapshot!(message(x.redistribute(&redistribute(0, 2))), @"node 0 has 12 bytes for node 1, which is not a multiple of the element size of 8 bytes");
    x.begin_step();
    insta::assert_snapshot!(message(x.send(&send(1, 0, ByteSelection::Listed(&[(0, 7)])))), @"step 1: the send of bytes from node 1 to node 0 names 7 bytes for node 0, expected a multiple of 8");
    let mut x = byte_counts(vec![vec![0, 24], vec![0, 0]], 8).unwrap();
    x.begin_step();
    assert_eq!(x.send(&send(0, 1, ByteSelection::Listed(&[(1, 16)]))), Ok(Some(16)));
}

#[test]
fn counts_beyond_the_limits_are_refused() {
    let embedding = |nodes| Embedding::new(Grid::new(&[nodes]).unwrap(), nodes);
    let new = |nodes, block_bytes| {
        ByteCounts::<u64>::new(
            embedding(nodes),
            None,
            ByteCountUnits { block_bytes, element_bytes: 1 },
        )
        .map(|_| ())
    };
    insta::assert_snapshot!(message(new(40_000, 1)), @"byte counts for each of 40000 destinations at 40000 nodes need 11 GiB, more than the limit of 8 GiB");
    insta::assert_snapshot!(message(new(1 << 10, 1 << 43)), @"blocks of 8796093022208 bytes among 1024 nodes add up beyond 2^63 bytes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

    #[test]
    fn redistributed_bytes_are_delivered(
        sizes in prop::collection::vec(0_u64..30, 25),
        redistributes in prop::collection::vec((0_u64..5, 1_u64..7, 1_u64..9, any::<u32>(), any::<[u64; 6]>()), 0..8),
    ) {
        let table: Vec<Vec<u64>> = sizes.chunks(5).map(<[u64]>::to_vec).collect();
        let columns: Vec<u64> = (0..5).map(|j| table.iter().map(|row| row[j]).sum()).collect();
        let mut x = byte_counts(table, 1).unwrap();
        for (node, buckets, cycle, seed, to) in redistributes {
            let starts: Vec<u32> = (0..5).map(|d| seed.rotate_left(d) % cycle as u32).collect();
            x.redistribute(&Redistribution { node, buckets, cycle, first: u64::from(seed) % buckets, starts: &starts, firsts: &[] }).unwrap();
            let sends: Vec<_> = (0..buckets).map(|h| send(node, to[h as usize] % 5, ByteSelection::Bucket(h))).collect();
            let (now, later) = sends.split_at(sends.len() / 2);
            step(&mut x, now).unwrap();
            step(&mut x, later).unwrap();
        }
        prop_assert_eq!(x.loads.held().iter().sum::<u64>(), columns.iter().sum::<u64>());
        finish(&mut x, 5).unwrap();
        prop_assert_eq!(x.loads.held(), &columns[..]);
    }

    #[test]
    fn late_buckets_are_delivered(
        sizes in prop::collection::vec(0_u64..30, 25),
        late in prop::collection::vec(0_u8..6, 25),
        astray in prop::collection::vec((0_usize..25, 0_u64..5), 0..4),
        cycle in 1_u64..9,
    ) {
        let table: Vec<Vec<u64>> = sizes.chunks(5).map(<[u64]>::to_vec).collect();
        let columns: Vec<u64> = (0..5).map(|j| table.iter().map(|row| row[j]).sum()).collect();
        let mut x = byte_counts(table, 1).unwrap();
        for node in 0..5 {
            x.redistribute(&Redistribution { cycle, first: node, ..redistribute(node, 5) }).unwrap();
        }
        for round in [0..4, 4..5, 5..6] {
            let mut sends = Vec::new();
            for (i, _) in late.iter().enumerate().filter(|(_, late)| round.contains(*late)) {
                let (from, bucket) = (i as u64 / 5, i as u64 % 5);
                let to = astray.iter().find(|(at, _)| at == &i).map_or(bucket, |(_, to)| *to);
                sends.push(send(from, to, ByteSelection::Bucket(bucket)));
            }
            step(&mut x, &sends).unwrap();
            let all = [[(2, ALL_BYTES)], [(1, ALL_BYTES)]];
            step(&mut x, &[send(1, 2, ByteSelection::Listed(&all[0])), send(2, 1, ByteSelection::Listed(&all[1]))]).unwrap();
        }
        finish(&mut x, 5).unwrap();
        prop_assert_eq!(x.loads.held(), &columns[..]);
    }
}

#[test]
fn a_send_follows_the_last_receipt_of_its_bytes() {
    let mut x = uniform(3, 6);
    step(&mut x, &[send(1, 0, ByteSelection::Listed(&[(2, 6)]))]).unwrap();
    x.redistribute(&redistribute(0, 3)).unwrap();
    step(
        &mut x,
        &[
            send(2, 0, ByteSelection::Listed(&[(1, 6)])),
            send(2, 1, ByteSelection::Listed(&[(1, 0)])),
        ],
    )
    .unwrap();
    x.begin_step();
    let mut after = |from, to, what| {
        x.send(&send(from, to, what)).unwrap();
        x.latest_arrival()
    };
    assert_eq!([0, 1, 2].map(|to| after(0, to, ByteSelection::Bucket(to))), [1; 3]);
    assert_eq!(after(0, 1, ByteSelection::Listed(&[(1, 6)])), 2);
    assert_eq!(after(1, 2, ByteSelection::Listed(&[(2, 0)])), 0, "node 1 has received nothing");
}

#[test]
fn large_byte_counts_have_64_bits() {
    assert!(fits_32_bits((1 << 31) - 1, 1, 2) && fits_32_bits(1 << 31, 8, 2));
    assert!(!fits_32_bits(1 << 31, 1, 2));
}

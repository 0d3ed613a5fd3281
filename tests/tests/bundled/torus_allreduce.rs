use crate::support::rehearsals::{joined, log2_up, recorded_cases, refusal};
use swapmeet_sdk::{Algorithm, Collective, Grid, Rehearsal, RehearsedSend, RehearsedStep};

mod bucket {
    use super::*;
    use swapmeet_plugin_torus_allreduce::bucket::{BUCKET, HIERARCHICAL};

    #[test]
    fn every_torus_has_the_cost_of_the_closed_form() {
        for sides in [&[1][..], &[5], &[2, 3], &[4, 4], &[3, 1, 4], &[2, 2, 3]] {
            let (n, links): (u64, u64) =
                (sides.iter().product(), sides.iter().map(|side| side - 1).sum());
            let on = |bytes: u64| {
                Rehearsal::on("torus", sides)
                    .collective(Collective::AllReduce, 0)
                    .block_bytes(bytes)
            };
            let proved = on(10 * n).verify(&BUCKET).unwrap();
            assert_eq!(
                (proved.steps, proved.critical_bytes),
                (2 * links, 20 * (n - 1)),
                "{sides:?}"
            );
            assert_eq!(proved.summed_bytes, 10 * (n - 1));
            assert!(proved.max_sends <= 1 && proved.max_receives <= 1);
            let many = 2 * sides.len() as u64;
            let proved = on(many * n).param("variant", "all-ports").verify(&BUCKET).unwrap();
            assert_eq!(
                (proved.steps, proved.messages),
                (2 * links, proved.messages.min(2 * n * links * many)),
                "{sides:?}"
            );
        }
    }

    #[test]
    fn groups_may_differ_from_the_dimensions() {
        let problem =
            Rehearsal::on("ring", &[12]).collective(Collective::AllReduce, 0).block_bytes(12);
        assert_eq!(problem.param("group", "4").verify(&HIERARCHICAL).unwrap().steps, 2 * (3 + 2));
    }
}

mod swing {
    use super::*;
    use swapmeet_plugin_torus_allreduce::swing::{Swing, SwingExchange, rho};

    #[test]
    fn partners_are_mutual_at_the_printed_distances() {
        assert_eq!([0, 1, 2, 3, 4, 5].map(rho), [1, -1, 3, -5, 11, -21]);
        let grid = Grid::new(&[64]).unwrap();
        for mirrored in [false, true] {
            let swings = SwingExchange::new(&grid, 0, mirrored, false);
            for s in 0..6 {
                assert!((0..64).all(|c| swings.partner(0, s, swings.partner(0, s, c)) == c));
            }
            assert!((0..64).all(|c| {
                let mut all = swings.reached(0, 0, c);
                all.sort_unstable();
                all.into_iter().eq(0..64)
            }));
        }
    }

    #[test]
    fn every_torus_has_the_cost_of_the_closed_forms() {
        for sides in [&[1][..], &[2], &[16], &[4, 4], &[2, 8], &[4, 2, 4]] {
            let n: u64 = sides.iter().product();
            let log = log2_up(n);
            let on = |bytes: u64, variant: &str| {
                let problem = Rehearsal::on("torus", sides)
                    .collective(Collective::AllReduce, 0)
                    .block_bytes(bytes);
                problem.param("variant", variant).verify(&Swing).unwrap()
            };
            let proved = on(10 * n, "bandwidth");
            assert_eq!((proved.steps, proved.critical_bytes), (2 * log, 20 * (n - 1)), "{sides:?}");
            assert_eq!((proved.summed_bytes, proved.max_sends), (10 * (n - 1), u64::from(n > 1)));
            let proved = on(10, "latency");
            assert_eq!(
                (proved.steps, proved.critical_bytes, proved.summed_bytes),
                (log, 10 * log, 10 * log)
            );
            let proved = on(2 * sides.len() as u64 * n, "all-ports");
            assert_eq!(proved.steps, 2 * log, "{sides:?}");
            assert_eq!(proved.summed_bytes, 2 * sides.len() as u64 * (n - 1));
        }
    }

    #[test]
    fn other_sides_are_refused() {
        let problem = Rehearsal::on("torus", &[4, 6]).collective(Collective::AllReduce, 0);
        assert_eq!(
            refusal(&problem, &Swing),
            "a dimension has 6 nodes, which is not a power of two"
        );
    }
}

mod trivance {
    use super::*;
    use swapmeet_plugin_torus_allreduce::trivance::Trivance;

    #[test]
    fn every_torus_has_the_cost_of_the_closed_forms() {
        for sides in [&[1][..], &[3], &[27], &[3, 3], &[9, 3]] {
            let n: u64 = sides.iter().product();
            let log = sides.iter().map(|side| u64::from(side.ilog(3))).sum::<u64>();
            let on = |bytes: u64, variant: &str| {
                let problem = Rehearsal::on("torus", sides)
                    .collective(Collective::AllReduce, 0)
                    .block_bytes(bytes);
                problem.param("variant", variant).verify(&Trivance).unwrap()
            };
            let proved = on(10, "latency");
            assert_eq!(
                (proved.steps, proved.critical_bytes, proved.summed_bytes),
                (log, 10 * log, 20 * log)
            );
            let proved = on(2 * n * sides.len() as u64, "bandwidth");
            assert_eq!(proved.steps, 2 * log, "{sides:?}");
            assert_eq!(proved.summed_bytes, 2 * sides.len() as u64 * (n - 1));
        }
        let ring =
            Rehearsal::on("ring", &[27]).collective(Collective::AllReduce, 0).block_bytes(27);
        assert_eq!(
            ring.verify(&Trivance).unwrap().critical_bytes,
            26,
            "half of the vector in each direction, in both phases"
        );
    }

    #[test]
    fn other_sides_are_refused() {
        let problem = Rehearsal::on("torus", &[9, 6]).collective(Collective::AllReduce, 0);
        assert_eq!(
            refusal(&problem, &Trivance),
            "a dimension has 6 nodes, which is not a power of three"
        );
    }
}

/// Compares Swing and Trivance with messages that were recorded from the code of their authors.
mod recorded {
    use super::*;
    use swapmeet_plugin_torus_allreduce::swing::Swing;
    use swapmeet_plugin_torus_allreduce::trivance::Trivance;

    /// The files state their source and licence.
    const SWING: &str = include_str!("../../fixtures/schedules/bine-torus.txt");
    const TRIVANCE: &str = include_str!("../../fixtures/schedules/trivance.txt");

    struct Recorded<'a> {
        title: Vec<&'a str>,
        sides: Vec<u64>,
        port: usize,
        lines: Vec<&'a str>,
    }

    impl<'a> Recorded<'a> {
        fn new((title, lines): (Vec<&'a str>, Vec<&'a str>)) -> Self {
            let [.., sides, port] = title[..] else { panic!("{title:?}") };
            let sides = sides.split('x').map(|side| side.parse().unwrap()).collect();
            let port = port.parse().unwrap();
            Self { title, sides, port, lines }
        }
    }

    fn plan(algorithm: &dyn Algorithm, sides: &[u64], variant: &str) -> Vec<RehearsedStep> {
        let problem = Rehearsal::on("torus", sides).collective(Collective::AllReduce, 0);
        problem.param("variant", variant).plan(algorithm).unwrap()
    }

    fn sends(step: &RehearsedStep, rank: usize, segment: usize) -> Vec<&RehearsedSend> {
        let is_own =
            |send: &&RehearsedSend| send.from == rank as u64 && send.segments == [segment as u64];
        step.sends.iter().filter(is_own).collect()
    }

    /// Compares the messages of a port. Of the messages of a rank with `segment` in a step, the one
    /// with the index `number` is that of the port.
    fn compare(recorded: &Recorded<'_>, steps: &[RehearsedStep], segment: usize, number: usize) {
        for (rank, line) in recorded.lines.iter().enumerate() {
            let message = |step: &RehearsedStep| {
                let send = sends(step, rank, segment)[number];
                format!("{}:{}", send.to, joined(&send.destinations))
            };
            let ours: Vec<String> = steps.iter().map(message).collect();
            assert_eq!(ours.join(" "), *line, "{:?}, rank {rank}", recorded.title);
        }
    }

    /// Compares only the partners, because the variant `latency` sends whole vectors and the
    /// recorded messages have parts. `number` is as in `compare`.
    fn compare_partners(recorded: &Recorded<'_>, steps: &[RehearsedStep], number: usize) {
        for (rank, line) in recorded.lines.iter().enumerate() {
            let theirs: Vec<u64> =
                line.split(' ').map(|m| m.split(':').next().unwrap().parse().unwrap()).collect();
            let ours: Vec<u64> = steps.iter().map(|step| sends(step, rank, 0)[number].to).collect();
            assert_eq!(ours, theirs, "{:?}, rank {rank}", recorded.title);
        }
    }

    #[test]
    fn swing_has_the_messages_of_the_authors_library() {
        let cases: Vec<_> = recorded_cases(SWING).into_iter().map(Recorded::new).collect();
        for recorded in &cases {
            let of_phase = |steps: Vec<RehearsedStep>| {
                let half = steps.len() / 2;
                let is_gathered = recorded.title[0] == "allgather";
                if is_gathered { steps[half..].to_vec() } else { steps[..half].to_vec() }
            };
            // In the library, port k begins with dimension k, and port D + k is its mirror image.
            // Here, the two ports have the segments 2 k and 2 k + 1.
            let dimensions = recorded.sides.len();
            let segment = recorded.port % dimensions * 2 + recorded.port / dimensions;
            compare(recorded, &of_phase(plan(&Swing, &recorded.sides, "all-ports")), segment, 0);
            if recorded.port == 0 {
                compare(recorded, &of_phase(plan(&Swing, &recorded.sides, "bandwidth")), 0, 0);
                if recorded.title[0] == "reduce-scatter" {
                    compare_partners(recorded, &plan(&Swing, &recorded.sides, "latency"), 0);
                }
            }
        }
        assert_eq!(cases.len(), 32);
    }

    #[test]
    fn trivance_has_the_messages_of_the_authors_simulator() {
        let cases: Vec<_> = recorded_cases(TRIVANCE).into_iter().map(Recorded::new).collect();
        for recorded in &cases {
            // Ports D to 2 D - 1 send the segments of ports 0 to D - 1 in the opposite direction.
            let dimensions = recorded.sides.len();
            let (segment, number) = (recorded.port % dimensions, recorded.port / dimensions);
            let steps = plan(&Trivance, &recorded.sides, "bandwidth");
            let (reduced, gathered) = steps.split_at(steps.len() / 2);
            if segment == 0 {
                compare_partners(recorded, &plan(&Trivance, &recorded.sides, "latency"), number);
            }
            compare(recorded, reduced, segment, number);
            // The file has no allgather. Its steps must have the same partners and sizes in reverse
            // order.
            for (rank, _) in recorded.lines.iter().enumerate() {
                for (reduced, gathered) in reduced.iter().rev().zip(gathered) {
                    let ends = |step| {
                        let mut ends: Vec<(u64, usize)> = sends(step, rank, segment)
                            .iter()
                            .map(|send| (send.to, send.destinations.len()))
                            .collect();
                        ends.sort_unstable();
                        ends
                    };
                    assert_eq!(ends(reduced), ends(gathered), "{:?}, rank {rank}", recorded.title);
                }
            }
        }
        assert_eq!(cases.len(), 20);
    }
}

//! Machines of the papers, every figure with its source.

use super::{Barrier, Machine, ModelKind, Ports};

/// A machine by name.
#[derive(Debug)]
pub struct Preset {
    /// What users type.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Where its figures come from: (key, source).
    pub sources: &'static [(&'static str, &'static str)],
    /// The machine.
    pub machine: fn() -> Machine,
}

/// All presets.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

fn named(name: &str, model: ModelKind) -> Machine {
    Machine { name: name.to_owned(), model, ports: Ports::Count(1), ..Machine::default() }
}

static PRESETS: &[Preset] = &[
    Preset {
        name: "free",
        title: "Nothing costs anything: a base for machines of one's own",
        sources: &[],
        machine: Machine::default,
    },
    Preset {
        name: "paragon",
        title: "Intel Paragon, as measured for Suh & Shin, section 5",
        sources: &[
            ("startup_us", "ts = 75 us, Suh & Shin, section 5"),
            ("byte_us", "tc = 0.011 us a byte, Suh & Shin, section 5"),
            ("hop_us", "tl = 0.02 us, Suh & Shin, section 5 (measured by the authors)"),
            ("rearrange_byte_us", "rho = 0.014 us a byte, Suh & Shin, section 5"),
            (
                "barrier_us",
                "tb = (126 d - 113) us, Suh & Shin, section 5; d is not defined there. Taken as log2 of the number of nodes, rounded up: \
                 a barrier by messages needs that many rounds, and 126 us a round fits ts = 75 us",
            ),
            ("ports", "one-port, Suh & Shin, section 2"),
        ],
        machine: || Machine {
            startup_us: 75.0,
            byte_us: 0.011,
            hop_us: 0.02,
            rearrange_byte_us: 0.014,
            barrier: Barrier::Rounds { per_round: 126.0, offset: -113.0 },
            ..named("paragon", ModelKind::Wormhole)
        },
    },
    Preset {
        name: "delta",
        title: "Intel Touchstone Delta, fitted to the times of Thakur, Choudhary & Fox",
        sources: &[
            (
                "startup_us",
                "alpha = 187.6 us: least squares on Thakur et al., Table 2, weighted by 1/t, with PEX's exact contention (`reproduce thakur` repeats the fit)",
            ),
            ("byte_us", "beta = 0.2498 us a byte: the same fit"),
            (
                "unpaired_byte_us",
                "beta_sr = 0.363 us a byte: the same fit on Tables 5 and 6 (GEN), with GEN's exact contention",
            ),
            ("free_contention", "2^gamma = 2, Thakur et al., section 2"),
            ("hop_us", "0: the paper takes the time to be independent of distance"),
            ("ports", "one send and one receive at a time, Thakur et al., section 3"),
        ],
        machine: || Machine {
            startup_us: 187.6,
            byte_us: 0.2498,
            unpaired_byte_us: Some(0.363),
            free_contention: 2.0,
            ..named("delta", ModelKind::Wormhole)
        },
    },
];

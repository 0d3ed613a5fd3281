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

/// A machine of Liu et al.'s Table 1: start-up and the time of a byte, which the table gives as one figure, tc + td.
fn flat(name: &str, startup_us: f64, copy_and_transfer_us: f64) -> Machine {
    Machine {
        startup_us,
        byte_us: copy_and_transfer_us / 2.0,
        copy_byte_us: copy_and_transfer_us / 2.0,
        rearrange_byte_us: 0.02,
        ..named(name, ModelKind::Flat)
    }
}

/// What Table 1 leaves out is the same for all its machines.
const SPLIT: &str = "half of tc + td, Liu et al., Table 1, which does not say how the two share it";
const COMPOSING: &str = "tm: not in the paper; 0.02 us a byte is a memory copy of 50 MB/s, set it to what you know (0 to 0.1 are plausible)";
const ONE_AT_A_TIME: &str = "a receiver takes one message at a time, Liu et al., section 2.3";

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
    Preset {
        name: "cm5",
        title: "Thinking Machines CM-5 under CMMD, Liu, Wang & Prasanna, Table 1",
        sources: &[
            ("startup_us", "Ts = 85 us, Liu et al., Table 1; half at either end"),
            ("byte_us", SPLIT),
            ("copy_byte_us", SPLIT),
            ("rearrange_byte_us", COMPOSING),
            ("ports", ONE_AT_A_TIME),
            ("mode", "no DMA and no message processor: only mode=blocking is meant"),
        ],
        machine: || flat("cm5", 85.0, 0.12),
    },
    Preset {
        name: "sp2",
        title: "IBM SP2 under MPICH, Liu, Wang & Prasanna, Table 1",
        sources: &[
            ("startup_us", "Ts = 44 us, Liu et al., Table 1; half at either end"),
            ("byte_us", SPLIT),
            ("copy_byte_us", SPLIT),
            ("rearrange_byte_us", COMPOSING),
            ("ports", ONE_AT_A_TIME),
        ],
        machine: || flat("sp2", 44.0, 0.035),
    },
    Preset {
        name: "t3d",
        title: "Cray T3D under MPICH, Liu, Wang & Prasanna, Table 1",
        sources: &[
            ("startup_us", "Ts = 38 us, Liu et al., Table 1; half at either end"),
            ("byte_us", SPLIT),
            ("copy_byte_us", SPLIT),
            ("rearrange_byte_us", COMPOSING),
            ("ports", ONE_AT_A_TIME),
            (
                "mode",
                "mode=nonblocking is optimistic: composing and transfers share one way to memory, Liu et al., section 4.1",
            ),
        ],
        machine: || flat("t3d", 38.0, 0.043),
    },
    Preset {
        name: "t3e",
        title: "Cray T3E under MPI, Liu, Wang & Prasanna, Table 1",
        sources: &[
            ("startup_us", "Ts = 28 us, Liu et al., Table 1; half at either end"),
            ("byte_us", SPLIT),
            ("copy_byte_us", SPLIT),
            ("rearrange_byte_us", COMPOSING),
            ("ports", ONE_AT_A_TIME),
        ],
        machine: || flat("t3e", 28.0, 0.006),
    },
    Preset {
        name: "myrinet",
        title: "SPARCstations on Myrinet, Liu, Wang & Prasanna, Table 1",
        sources: &[
            ("startup_us", "Ts = 68 us, Liu et al., Table 1; half at either end"),
            ("byte_us", SPLIT),
            ("copy_byte_us", SPLIT),
            ("rearrange_byte_us", COMPOSING),
            ("ports", ONE_AT_A_TIME),
        ],
        machine: || flat("myrinet", 68.0, 0.027),
    },
];

//! Predefined machines: those of the papers that published algorithms or models, and current ones.

use crate::cost::settings::Preset;

/// Returns all presets, in the order in which the program lists them.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// Returns the families of the networks on which the values of a preset were measured, if they were
/// fitted to measurements.
pub fn fitted_on(preset: &str) -> &'static [&'static str] {
    match preset {
        "fugaku" => &["torus", "tofu"],
        _ => &[],
    }
}

/// Creates a machine of Liu et al. from their Table 1. For each machine, the table has the start-up
/// time, and the sum of the times to copy a byte (`tc`) and to transmit it (`td`). Both of these
/// are set to half of the sum.
macro_rules! of_table_1 {
    ($name:literal, $title:literal, $startup_us:literal, $half_byte_us:literal $(, $more:expr)*) => {
        Preset {
            name: $name,
            title: $title,
            values: &[
                ("model", "flat", "Liu et al., section 2"),
                (
                    "startup_us",
                    $startup_us,
                    concat!("Ts = ", $startup_us, " us, Liu et al., Table 1; half at either end"),
                ),
                ("byte_us", $half_byte_us, SPLIT),
                ("rearrange_byte_us", "0.02", COMPOSING),
                ("copy_byte_us", $half_byte_us, SPLIT),
                ("ports", "1", "a receiver takes one message at a time, Liu et al., section 2.3"),
                $($more,)*
            ],
        }
    };
}

const SPLIT: &str = "half of tc + td, Liu et al., Table 1, which does not give the two separately";
const COMPOSING: &str =
    "tm: not in the paper; 0.02 us a byte is a memory copy at 50 MB/s (plausible: 0 to 0.1)";

/// Creates a machine of TPUs. `$gb` is the text of a link's bandwidth in one direction in GB/s.
macro_rules! tpu {
    ($name:literal, $title:literal, $byte_us:literal, $gb:literal, $links:literal) => {
        Preset {
            name: $name,
            title: $title,
            values: &[
                ("model", "wormhole", "links of tori"),
                ("startup_us", "0", STARTUP),
                (
                    "byte_us",
                    $byte_us,
                    concat!(
                        $gb,
                        " bytes a second a link one way, Austin et al., How to Scale Your Model (2025), part 2, table of interconnects"
                    ),
                ),
                (
                    "hop_us",
                    "1",
                    "one microsecond a hop, there, part 2, question 5 (for v5e), and part 3, question 2 (for v4p)",
                ),
                ("ports", "all", concat!($links, " links a chip at once")),
            ],
        }
    };
}

/// Creates a machine of servers of eight NVIDIA GPUs, with sources for the network's values.
macro_rules! gpu_servers {
    ($name:literal, $title:literal, $network:literal, $hop_us:literal, $hop:ident) => {
        Preset {
            name: $name,
            title: $title,
            values: &[
                ("model", "wormhole", "two tiers of switches"),
                ("startup_us", "1.6", NCCL_LL),
                ("launch_us", "9", NCCL),
                ("byte_us", "0.00002", $network),
                ("hop_us", $hop_us, $hop),
                ("ports", "all", "adapters and NVLink work at the same time"),
            ],
        }
    };
}

const FUGAKU: &str = "fitted to half of PICO's medians on 4x4x4 and 8x8x8 nodes (results/measured); `reproduce fugaku` repeats the fit";

const NCCL: &str = "fitted to published measurements of several clusters (results/measured/gpu); `reproduce gpu` judges the fit";

const NCCL_LL: &str = "a step over NVLink with NCCL's protocol LL, as in the preset `nccl`";
const NCCL_OUTSIDE: &str = "a step over the network with NCCL's protocol LL takes 10.8 us times the factor of the fabric (0.4 on InfiniBand, 2 on EFA), as in `list systems`: half of what that is beyond NVLink's, for either of its two hops";

/// The source of start-up times, for machines whose own sources describe only links.
const STARTUP: &str = "not in these sources: set it to a measured value";

static PRESETS: &[Preset] = &[
    Preset {
        name: "free",
        title: "A machine without any costs: a base for user-defined machines",
        values: &[],
    },
    Preset {
        name: "paragon",
        title: "Intel Paragon, as measured for Suh & Shin, section 5",
        values: &[
            ("model", "wormhole", "Suh & Shin, section 2"),
            ("startup_us", "75", "ts = 75 us, Suh & Shin, section 5"),
            ("byte_us", "0.011", "tc = 0.011 us a byte, Suh & Shin, section 5"),
            ("hop_us", "0.02", "tl = 0.02 us, Suh & Shin, section 5 (measured by the authors)"),
            ("rearrange_byte_us", "0.014", "rho = 0.014 us a byte, Suh & Shin, section 5"),
            (
                "barrier_us",
                "126d-113",
                "tb = (126 d - 113) us, Suh & Shin, section 5; d is not defined there. Taken as log2 of the number of nodes, rounded up: \
                 a barrier by messages needs that many rounds, and 126 us a round fits ts = 75 us",
            ),
            ("ports", "1", "one-port, Suh & Shin, section 2"),
        ],
    },
    Preset {
        name: "delta",
        title: "Intel Touchstone Delta, fitted to the times of Thakur, Choudhary & Fox",
        values: &[
            ("model", "wormhole", "Thakur et al., section 2"),
            (
                "startup_us",
                "187.6",
                "alpha = 187.6 us: least squares on Thakur et al., Table 2, weighted by 1/t, with PEX's exact contention (`reproduce thakur` repeats the fit)",
            ),
            ("byte_us", "0.2498", "beta = 0.2498 us a byte: the same fit"),
            ("hop_us", "0", "0: the paper takes the time to be independent of distance"),
            (
                "unpaired_byte_us",
                "0.363",
                "beta_sr = 0.363 us a byte: the same fit on Tables 5 and 6 (GEN), with GEN's exact contention",
            ),
            ("ports", "1", "one send and one receive at a time, Thakur et al., section 3"),
            ("free_contention", "2", "2^gamma = 2, Thakur et al., section 2"),
        ],
    },
    of_table_1!(
        "cm5",
        "Thinking Machines CM-5 under CMMD, Liu, Wang & Prasanna, Table 1",
        "85",
        "0.06",
        ("mode", "blocking", "no DMA and no message processor: only mode=blocking is meant")
    ),
    of_table_1!("sp2", "IBM SP2 under MPICH, Liu, Wang & Prasanna, Table 1", "44", "0.0175"),
    of_table_1!(
        "t3d",
        "Cray T3D under MPICH, Liu, Wang & Prasanna, Table 1",
        "38",
        "0.0215",
        (
            "mode",
            "blocking",
            "mode=nonblocking is optimistic: composing and transfers share one way to memory, Liu et al., section 4.1"
        )
    ),
    of_table_1!("t3e", "Cray T3E under MPI, Liu, Wang & Prasanna, Table 1", "28", "0.003"),
    of_table_1!(
        "myrinet",
        "SPARCstations on Myrinet, Liu, Wang & Prasanna, Table 1",
        "68",
        "0.0135"
    ),
    Preset {
        name: "tofu-d",
        title: "Fujitsu's Tofu Interconnect D (Fugaku): tori, six interfaces a node",
        values: &[
            ("model", "wormhole", "links of tori and meshes, one-sided puts"),
            (
                "startup_us",
                "0.49",
                "8-byte put from one node to another, Ajima et al., The Tofu Interconnect D (CLUSTER 2018), abstract",
            ),
            (
                "byte_us",
                "0.0001575",
                "6.35 GB/s: the node's 38.1 GB/s by six interfaces at once, there",
            ),
            ("injection_byte_us", "0.00002625", "38.1 GB/s a node as measured, there, abstract"),
            ("hop_us", "0", "not in the abstract, whose 0.49 us has the hops of its one way in it"),
            ("ports", "6", "six interfaces a node, there"),
        ],
    },
    Preset {
        name: "fugaku",
        title: "Fugaku under Fujitsu MPI, one interface a message, fitted to PICO's measurements; for torus:AxBxC",
        values: &[
            ("model", "wormhole", "links of a logical torus"),
            ("startup_us", "2.016", FUGAKU),
            ("byte_us", "0.0001527", FUGAKU),
            ("hop_us", "0.4452", FUGAKU),
            ("rearrange_byte_us", "0.0000638", FUGAKU),
            (
                "rearrangement",
                "exchanges",
                "libraries keep the blocks of other messages contiguous",
            ),
            ("rearrange_block_us", "0.03104", FUGAKU),
            ("reduce_byte_us", "0.00002719", FUGAKU),
            ("ports", "1", "a message uses one of six interfaces"),
            ("hops", "mean", "fits better than the longest route"),
            ("rendezvous_bytes", "131072", "the power of 2 that fits best"),
            ("rendezvous_us", "8.02", FUGAKU),
            ("eager_byte_us", "0.0001853", FUGAKU),
        ],
    },
    Preset {
        name: "slingshot-10",
        title: "HPE Slingshot-10: switches of 200 Gb/s ports, adapters of 100 Gb/s; for dragonfly:GxRxP",
        values: &[
            ("model", "wormhole", "every switch of a dragonfly is a hop"),
            ("startup_us", "0", STARTUP),
            (
                "byte_us",
                "0.00004",
                "200 Gb/s a port of Rosetta, De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC 2020), II-A",
            ),
            ("hop_us", "0.35", "Rosetta's mean and median latency, 350 ns, there, II-A and Fig. 2"),
            (
                "injection_byte_us",
                "0.00008",
                "100 Gb/s a ConnectX-5 adapter: Slingshot-10, G. K. Lockwood, Slingshot (glennklockwood.com/garden/slingshot)",
            ),
            ("ports", "1", "one adapter a node"),
        ],
    },
    Preset {
        name: "slingshot-11",
        title: "HPE Slingshot-11: switches and adapters of 200 Gb/s; for dragonfly:GxRxP",
        values: &[
            ("model", "wormhole", "every switch of a dragonfly is a hop"),
            ("startup_us", "0", STARTUP),
            (
                "byte_us",
                "0.00004",
                "64 ports of 200 Gb/s a switch, Argonne Leadership Computing Facility, Aurora's interconnect",
            ),
            (
                "hop_us",
                "0.35",
                "Rosetta's mean and median latency, 350 ns, De Sensi et al. (SC 2020), II-A and Fig. 2",
            ),
            (
                "injection_byte_us",
                "0.00004",
                "200 Gb/s a Cassini adapter, G. K. Lockwood, Slingshot (glennklockwood.com/garden/slingshot)",
            ),
            ("ports", "1", "one adapter a rank: Aurora's nodes have eight"),
        ],
    },
    tpu!(
        "tpu-v4",
        "Google TPU v4: torus:AxBxC and twisted-torus:AxBxC of inter-chip links",
        "0.0000222",
        "4.5e10",
        "six"
    ),
    tpu!(
        "tpu-v5p",
        "Google TPU v5p: torus:AxBxC of inter-chip links, a pod being torus:16x20x28",
        "0.00001111",
        "9e10",
        "six"
    ),
    tpu!(
        "tpu-v5e",
        "Google TPU v5e: torus:AxB of inter-chip links, a pod being torus:16x16",
        "0.00002222",
        "4.5e10",
        "four"
    ),
    tpu!(
        "tpu-v6e",
        "Google TPU v6e (Trillium): torus:AxB of inter-chip links, a pod being torus:16x16",
        "0.00001111",
        "9e10",
        "four"
    ),
    Preset {
        name: "trainium2",
        title: "AWS Trainium2: the 16 chips of a Trn2 instance; for torus:4x4",
        values: &[
            ("model", "wormhole", "links of a torus"),
            ("startup_us", "0", STARTUP),
            (
                "byte_us",
                "0.0000078125",
                "1,024 GB/s a chip within an instance, AWS Neuron SDK, trn2-arch.rst (81ce03a), taken as four links in both directions: 128 GB/s one way",
            ),
            ("hop_us", "0", STARTUP),
            ("ports", "all", "four links a chip at once; the two to other instances are left out"),
        ],
    },
    Preset {
        name: "trainium3",
        title: "AWS Trainium3: the 64 chips of a Trn3 UltraServer (Gen1) on switches; for fat-tree:64x1",
        values: &[
            ("model", "wormhole", "all chips linked through switches"),
            ("startup_us", "0", STARTUP),
            (
                "byte_us",
                "0.0000009095",
                "2,048 GiB/s a device, AWS Neuron SDK, trn3-arch.rst (6e694cb), taken as both directions",
            ),
            ("hop_us", "0", STARTUP),
            ("ports", "all", "messages to several chips share the chip's link"),
        ],
    },
    Preset {
        name: "mi300x",
        title: "AMD MI300X: eight GPUs in a server, each pair linked; for fully-connected:8",
        values: &[
            ("model", "wormhole", "a link for each pair"),
            ("startup_us", "0", STARTUP),
            (
                "byte_us",
                "0.00002083",
                "48 GB/s usable of 64 GB/s a link, Kolla et al., Understanding RCCL Bandwidth and xGMI Performance on AMD Instinct MI300X (rocm.blogs.amd.com, 2025)",
            ),
            ("hop_us", "0", STARTUP),
            ("ports", "all", "seven links a GPU at once"),
        ],
    },
    gpu_servers!(
        "dgx-h100",
        "NVIDIA DGX H100 on InfiniBand NDR; for groups:NODESx8,inside=9,inside_hop=0",
        "400 Gb/s a ConnectX-7 adapter, one a GPU: NVIDIA, DGX H100; within a node 9 times as much, NVLink's 900 GB/s being of both directions",
        "1.36",
        NCCL_OUTSIDE
    ),
    gpu_servers!(
        "dgx-b200",
        "NVIDIA DGX B200 on InfiniBand NDR; for groups:NODESx8,inside=18,inside_hop=0",
        "400 Gb/s a ConnectX-7 adapter, one a GPU: NVIDIA, DGX B200; within a node 18 times as much, NVLink's 1,800 GB/s being of both directions",
        "1.36",
        NCCL_OUTSIDE
    ),
    gpu_servers!(
        "efa-p5",
        "AWS P5 and P5e (H100, H200) on EFA; for groups:NODESx8,inside=9,inside_hop=0",
        "3,200 Gb/s an instance of eight GPUs, 4 rails a GPU: aws-ofi-nccl, src/tuner/nccl_ofi_model.cpp (2daf7d3), which writes 12.5 GiB/s a rail for 100 Gb/s; within a node 9 times as much, NVLink's 900 GB/s being of both directions",
        "10",
        NCCL_OUTSIDE
    ),
    gpu_servers!(
        "efa-p5en",
        "AWS P5en (H200) on EFA; for groups:NODESx8,inside=9,inside_hop=0",
        "3,200 Gb/s an instance of eight GPUs, 2 rails a GPU: aws-ofi-nccl, src/tuner/nccl_ofi_model.cpp (2daf7d3), which writes 25 GiB/s a rail for 200 Gb/s; within a node 9 times as much, NVLink's 900 GB/s being of both directions",
        "10",
        NCCL_OUTSIDE
    ),
    Preset {
        name: "aurora",
        title: "Aurora (Slingshot-11): dragonfly:GROUPSx32x16, 166 groups in all, a rank for each adapter",
        values: &[
            ("model", "wormhole", "every switch of a dragonfly is a hop"),
            ("startup_us", "0", STARTUP),
            (
                "byte_us",
                "0.00004",
                "200 Gb/s a port of a switch, Argonne Leadership Computing Facility, Aurora's interconnect; Aurora has two links between two groups, a dragonfly here has one: Ibeid et al., Scaling MPI Applications on Aurora (arXiv 2512.04291)",
            ),
            (
                "hop_us",
                "0.35",
                "Rosetta's mean and median latency, 350 ns, De Sensi et al. (SC 2020), II-A and Fig. 2",
            ),
            ("injection_byte_us", "0.00004", "200 Gb/s a Cassini adapter, slingshot-11"),
            (
                "ports",
                "1",
                "one adapter a rank: 32 switches a group with two nodes of eight adapters each, Ibeid et al.",
            ),
        ],
    },
    Preset {
        name: "nccl",
        title: "GPUs with NCCL or RCCL: what all systems of `list systems` share; for groups:DxG,inside=B,nics=K",
        values: &[
            ("model", "pipelined", "libraries for GPUs cut messages into chunks"),
            ("launch_us", "9", NCCL),
            ("chunk_startups", "3", NCCL),
            ("protocols", "LL:1.6/10.8/0.26/0.12+LL128:3.2/12/0.82/0.78+Simple:8/19/1/1", NCCL),
            ("switch_startup_us", "17", NCCL),
            ("switch_fraction", "0.909", NCCL),
            ("rearrange_byte_us", "0.000015", NCCL),
            ("rearrange_block_us", "1.25", NCCL),
        ],
    },
];

//! Table 1: pairs. Tables 2 to 6: seconds for a complete exchange on the Intel Touchstone Delta. Figures of Thakur, Choudhary & Fox (1993).

/// One of the paper's tables.
pub struct Measured {
    /// As the paper numbers it.
    pub id: &'static str,
    /// Our name of the algorithm.
    pub algorithm: &'static str,
    /// For each mesh (rows x columns), seconds by message size.
    pub meshes: [(&'static str, [f64; 5]); 5],
}

/// The message sizes of all tables, in bytes.
pub const SIZES: [u64; 5] = [256, 1024, 4096, 8192, 16384];

/// With how many decimals the paper prints a time: four figures at most, and three decimals.
pub fn decimals(seconds: f64) -> usize {
    if seconds < 10.0 { 3 } else { 2 }
}

/// Table 1: the exchanges of PEX on 8 processors, step by step.
pub const TABLE_1: [[(u32, u32); 4]; 7] = [
    [(0, 1), (2, 3), (4, 5), (6, 7)],
    [(0, 2), (1, 3), (4, 6), (5, 7)],
    [(0, 3), (1, 2), (4, 7), (5, 6)],
    [(0, 4), (1, 5), (2, 6), (3, 7)],
    [(0, 5), (1, 4), (2, 7), (3, 6)],
    [(0, 6), (1, 7), (2, 4), (3, 5)],
    [(0, 7), (1, 6), (2, 5), (3, 4)],
];

/// All measured tables.
pub const TABLES: [Measured; 5] = [
    Measured {
        id: "Table 2",
        algorithm: "pex",
        meshes: [
            ("4x4", [0.004, 0.008, 0.023, 0.034, 0.064]),
            ("8x8", [0.022, 0.064, 0.114, 0.228, 0.441]),
            ("16x8", [0.045, 0.120, 0.355, 0.692, 1.413]),
            ("16x16", [0.094, 0.290, 0.999, 2.068, 4.145]),
            ("16x32", [0.203, 0.860, 3.218, 6.794, 13.61]),
        ],
    },
    Measured {
        id: "Table 3",
        algorithm: "pex-gen",
        meshes: [
            ("4x5", [0.008, 0.017, 0.037, 0.073, 0.138]),
            ("6x8", [0.019, 0.038, 0.091, 0.174, 0.333]),
            ("16x9", [0.085, 0.191, 0.576, 1.188, 2.403]),
            ("16x14", [0.092, 0.270, 0.977, 2.007, 4.056]),
            ("16x30", [0.211, 0.899, 3.588, 7.616, 15.82]),
        ],
    },
    Measured {
        id: "Table 4",
        algorithm: "pex-gen-shift",
        meshes: [
            ("4x5", [0.008, 0.017, 0.036, 0.071, 0.129]),
            ("6x8", [0.019, 0.038, 0.091, 0.170, 0.333]),
            ("16x9", [0.085, 0.188, 0.543, 1.111, 2.242]),
            ("16x14", [0.092, 0.263, 0.933, 1.948, 3.844]),
            ("16x30", [0.211, 0.894, 3.526, 7.515, 15.74]),
        ],
    },
    Measured {
        id: "Table 5",
        algorithm: "gen",
        meshes: [
            ("4x4", [0.004, 0.008, 0.018, 0.037, 0.069]),
            ("8x8", [0.016, 0.042, 0.145, 0.290, 0.576]),
            ("16x8", [0.042, 0.123, 0.461, 0.933, 1.947]),
            ("16x16", [0.089, 0.346, 1.220, 2.511, 5.052]),
            ("16x32", [0.283, 1.217, 3.944, 8.007, 16.15]),
        ],
    },
    Measured {
        id: "Table 6",
        algorithm: "gen",
        meshes: [
            ("4x5", [0.004, 0.009, 0.025, 0.052, 0.098]),
            ("6x8", [0.015, 0.027, 0.083, 0.186, 0.369]),
            ("16x9", [0.046, 0.146, 0.527, 1.071, 2.182]),
            ("16x14", [0.074, 0.285, 0.998, 2.011, 4.005]),
            ("16x30", [0.246, 1.069, 3.706, 7.752, 15.94]),
        ],
    },
];

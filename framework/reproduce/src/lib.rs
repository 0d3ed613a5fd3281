//! Reproduces the tables of papers and compares them cell by cell. A file in `papers/` contains the
//! data of a paper: its experiments, tables, values, formulas and errors. `engine` makes the tables
//! from it. The calculations that formulas call are in the module of the paper.

#![allow(
    clippy::expect_used,
    reason = "an impossible state ends in an assertion, never in a value"
)]

mod bench;
mod bine;
mod engine;
mod formula;
mod fugaku;
mod gpu;
mod judge;
mod li;
mod library;
mod liu;
mod nccl;
mod networks;
mod report;
#[cfg(test)]
mod tests;
mod thakur;

pub use bench::{Bench, ReproduceError, Run};
pub use engine::Paper;
pub use gpu::{AWS_SOURCE, Winner, aws_winners};
pub use li::Published;
pub use report::{Cell, Kind, Report, Table, Verdict, overview};

const fn paper(name: &'static str, title: &'static str, data: &'static str) -> Paper {
    Paper { name, title, data, call: |_, name, _| Err(format!("there is no `{name}`").into()) }
}

pub fn papers() -> &'static [Paper] {
    // The first five papers are those whose algorithms this project implements in full.
    const PAPERS: &[Paper] = &[
        paper(
            "suh-shin",
            "Y.-J. Suh, K. G. Shin: All-to-All Personalized Communication in Multidimensional Torus and Mesh Networks, IEEE TPDS (2001)",
            include_str!("../papers/suh-shin.toml"),
        ),
        Paper {
            call: thakur::call,
            ..paper(
                "thakur",
                "R. Thakur, A. Choudhary, G. C. Fox: Complete Exchange on a Wormhole Routed Mesh (1993)",
                include_str!("../papers/thakur.toml"),
            )
        },
        Paper {
            call: liu::call,
            ..paper(
                "liu",
                "W. Liu, C.-L. Wang, V. K. Prasanna: Portable and Scalable Algorithm for Irregular All-to-All Communication, JPDC (2002)",
                include_str!("../papers/liu.toml"),
            )
        },
        paper(
            "spencer",
            "C. C. Spencer: Circuit-Switched Structured Communications on Toroidal Meshes, M.Sc. thesis, Simon Fraser University (1994)",
            include_str!("../papers/spencer.toml"),
        ),
        paper(
            "li",
            "Y. Li, S. Peng, W. Chu: Collective Communication in Recursive Dual-Net",
            include_str!("../papers/li.toml"),
        ),
        paper(
            "tpu-v4",
            "N. Jouppi et al.: TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning with Hardware Support for Embeddings, ISCA (2023)",
            include_str!("../papers/tpu-v4.toml"),
        ),
        paper(
            "swing",
            "D. De Sensi, T. Bonato, D. Saam, T. Hoefler: Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI (2024)",
            include_str!("../papers/swing.toml"),
        ),
        Paper {
            call: bine::call,
            ..paper(
                "bine",
                "D. De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality, SC (2025)",
                include_str!("../papers/bine.toml"),
            )
        },
        Paper {
            call: fugaku::call,
            ..paper(
                "fugaku",
                "D. De Sensi, S. Pasqualoni: PICO, medians of collectives measured on the supercomputers Fugaku and LUMI (2025)",
                include_str!("../papers/fugaku.toml"),
            )
        },
        Paper {
            call: gpu::call,
            ..paper(
                "gpu",
                "Collectives on clusters of GPUs, as measured with nccl-tests and rccl-tests by several authors (2024 to 2026)",
                include_str!("../papers/gpu.toml"),
            )
        },
    ];
    PAPERS
}

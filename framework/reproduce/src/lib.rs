//! Reproduces the tables of papers and compares them cell by cell.
//!
//! The values of the papers are data in this crate, with their sources. The values of this program
//! come from runs of verified schedules, or are computed from these runs.

mod bench;
mod bine;
mod data;
mod formula;
mod fugaku;
mod li;
mod liu;
mod report;
mod spencer;
mod suh_shin;
mod swing;
mod thakur;
mod tpu_v4;

pub use bench::{Bench, ReproduceError, Run};
pub use li::Published;
pub use report::{Cell, Kind, Report, Table, Verdict, overview};

/// A paper whose experiments can be repeated.
#[derive(Debug)]
pub struct Paper {
    /// The name of the paper on the command line.
    pub name: &'static str,
    /// The authors, the title and the year.
    pub title: &'static str,
    run: fn(&Bench<'_>) -> Result<Vec<Table>, ReproduceError>,
}

impl Paper {
    pub fn run(&self, bench: &Bench<'_>) -> Result<Report, ReproduceError> {
        Ok(Report { paper: self.name, title: self.title, tables: (self.run)(bench)? })
    }
}

pub fn papers() -> &'static [Paper] {
    // The list starts with the five papers whose algorithms this project implements in full.
    &[
        Paper {
            name: "suh-shin",
            title: "Y.-J. Suh, K. G. Shin: All-to-All Personalized Communication in Multidimensional Torus and Mesh Networks, IEEE TPDS (2001)",
            run: suh_shin::tables,
        },
        Paper {
            name: "thakur",
            title: "R. Thakur, A. Choudhary, G. C. Fox: Complete Exchange on a Wormhole Routed Mesh (1993)",
            run: thakur::tables,
        },
        Paper {
            name: "liu",
            title: "W. Liu, C.-L. Wang, V. K. Prasanna: Portable and Scalable Algorithm for Irregular All-to-All Communication, JPDC (2002)",
            run: liu::tables,
        },
        Paper {
            name: "spencer",
            title: "C. C. Spencer: Circuit-Switched Structured Communications on Toroidal Meshes, M.Sc. thesis, Simon Fraser University (1994)",
            run: spencer::tables,
        },
        Paper {
            name: "li",
            title: "Y. Li, S. Peng, W. Chu: Collective Communication in Recursive Dual-Net",
            run: li::tables,
        },
        Paper {
            name: "tpu-v4",
            title: "N. Jouppi et al.: TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning with Hardware Support for Embeddings, ISCA (2023)",
            run: tpu_v4::tables,
        },
        Paper {
            name: "swing",
            title: "D. De Sensi, T. Bonato, D. Saam, T. Hoefler: Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI (2024)",
            run: swing::tables,
        },
        Paper {
            name: "bine",
            title: "D. De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality, SC (2025)",
            run: bine::tables,
        },
        Paper {
            name: "fugaku",
            title: "D. De Sensi, S. Pasqualoni: PICO, medians of collectives measured on the supercomputers Fugaku and LUMI (2025)",
            run: fugaku::tables,
        },
    ]
}

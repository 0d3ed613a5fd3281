//! Tests of each bundled plugin. Its schedules run on the SDK's naive host, which traces every
//! block. The functions of its crate are compared with closed forms, with tables and figures of the
//! papers, and with recorded messages of other programs. There is a file for each crate, with a
//! module for each tested module of the crate.

mod balanced_rotation;
mod bine;
mod classic;
mod dual_net;
mod experts;
mod files;
mod liu;
mod mesh_exchange;
mod mpi;
mod mpi_reductions;
mod spencer;
mod suh_shin;
mod synthesis;
mod thakur;
mod torus_allreduce;
mod torus_exchange;
mod unequal;

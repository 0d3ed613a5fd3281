//! The bundled algorithms, loaded from the real plugin files, compared with their papers and with
//! independent implementations.

mod arrivals;
mod claims;
mod collectives;
mod communicators;
mod dual_net;
mod gpu_clusters;
mod liu;
mod matrix;
mod oracle;
mod oracles;
mod orbits;
mod planted;
mod reproductions;
mod simgrid;
mod spencer;
mod suh_shin;
mod synthesis;
mod thakur;
mod tokens;
mod unequal;

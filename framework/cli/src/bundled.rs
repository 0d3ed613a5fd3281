//! The plugins that are linked into the program. A file in the program's folder replaces one.

use swapmeet_runner::plugin::linked::Linked;

pub(crate) const PLUGINS: &[Linked] = &[
    Linked { name: "bine", table: swapmeet_plugin_bine::plugin_table },
    Linked { name: "classic", table: swapmeet_plugin_classic::plugin_table },
    Linked { name: "dual-net", table: swapmeet_plugin_dual_net::plugin_table },
    Linked { name: "experts", table: swapmeet_plugin_experts::plugin_table },
    Linked { name: "files", table: swapmeet_plugin_files::plugin_table },
    Linked { name: "hypercube", table: swapmeet_plugin_hypercube::plugin_table },
    Linked { name: "liu", table: swapmeet_plugin_liu::plugin_table },
    Linked { name: "mesh-exchange", table: swapmeet_plugin_mesh_exchange::plugin_table },
    Linked { name: "mpi", table: swapmeet_plugin_mpi::plugin_table },
    Linked { name: "mpi-reductions", table: swapmeet_plugin_mpi_reductions::plugin_table },
    Linked { name: "spencer", table: swapmeet_plugin_spencer::plugin_table },
    Linked { name: "suh-shin", table: swapmeet_plugin_suh_shin::plugin_table },
    Linked { name: "synthesis", table: swapmeet_plugin_synthesis::plugin_table },
    Linked { name: "thakur", table: swapmeet_plugin_thakur::plugin_table },
    Linked { name: "torus-allreduce", table: swapmeet_plugin_torus_allreduce::plugin_table },
    Linked { name: "torus-exchange", table: swapmeet_plugin_torus_exchange::plugin_table },
    Linked { name: "unequal", table: swapmeet_plugin_unequal::plugin_table },
];

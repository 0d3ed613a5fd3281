//! Families of topologies: networks of one kind that differ in size.

/// Returns the name of the family of a topology. Two topologies belong to the same family if one
/// curve against the number of nodes may join them, such as grids with the same number of
/// dimensions, or dual-nets over the same base. A graph from a file is a family of its own.
pub fn family(topology: &str) -> String {
    // The options that every network has (failed links, placement of ranks, routing) are part of
    // the family's name.
    const OPTIONS: [&str; 7] =
        [",down=", ",slow=", ",faults=", ",slow-links=", ",ranks=", ",place=", ",routing="];
    let first = OPTIONS.into_iter().filter_map(|key| topology.find(key)).min();
    if let Some((network, options)) = first.map(|at| topology.split_at(at)) {
        return format!("{}{}", family(network), options.replace(',', ", "));
    }
    let (name, rest) = topology.split_once(':').unwrap_or((topology, ""));
    match (name, rest.split_once('(').and_then(|(_, base)| base.strip_suffix(')'))) {
        ("torus" | "mesh" | "twisted-torus", _) => {
            let sides = rest.split('x').enumerate();
            let open: String = sides
                .filter(|(_, n)| n.ends_with('o'))
                .map(|(d, _)| format!(", {d} open"))
                .collect();
            format!("{}D {name}{open}", rest.split('x').count())
        }
        ("hyperx", _) => format!("{}D {name}{}", rest.split('x').count(), after_sizes(rest)),
        ("slim-fly" | "jellyfish" | "groups", _) => format!("{name}{}", after_sizes(rest)),
        ("rdn", Some(base)) => format!("rdn over {base}"),
        ("graph", _) => topology.to_owned(),
        _ => name.to_owned(),
    }
}

/// Returns the arguments that follow the size, such as the nodes of a switch, a seed or a
/// bandwidth.
fn after_sizes(arguments: &str) -> String {
    arguments.split_once(',').map_or(String::new(), |(_, rest)| format!(", {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_one_kind_are_one_family() {
        let is = |a: &str, b: &str| family(a) == family(b);
        assert!(
            is("torus:8x8", "torus:16x4")
                && is("ring:4", "ring:64")
                && is("fat-tree:4x3", "fat-tree:4x2")
        );
        assert!(
            !is("torus:8x8", "torus:4x4x4")
                && !is("torus:8x8", "mesh:8x8")
                && !is("torus:8", "ring:8")
        );
        assert_eq!([family("torus:4x4x4"), family("hypercube:7")], ["3D torus", "hypercube"]);
        assert!(
            is("torus:8x4o", "torus:16x8o")
                && !is("torus:8x4o", "torus:8ox4")
                && !is("torus:8x4o", "torus:8x4")
        );
        assert!(
            is("hyperx:4x4,nodes=2", "hyperx:8x8,nodes=2")
                && !is("hyperx:4x4,nodes=2", "hyperx:4x4")
        );
        assert!(
            is("torus:4x4,place=hilbert", "torus:8x8,place=hilbert")
                && is("torus:4x4,faults=2", "torus:8x8,faults=2")
                && !is("torus:4x4,faults=2", "torus:4x4")
                && !is("torus:4x4,place=hilbert", "torus:4x4")
        );
        assert!(
            is("torus:4x4,ranks=2", "torus:8x8,ranks=2")
                && !is("torus:4x4,ranks=2", "torus:4x4,ranks=4")
        );
        assert!(is("slim-fly:5", "slim-fly:7") && !is("groups:2x8,inside=9", "groups:2x8"));
    }

    #[test]
    fn dual_nets_belong_to_their_base_and_graphs_to_themselves() {
        assert_eq!(family("rdn:2(torus:5x5)"), family("rdn:1(torus:5x5)"));
        assert_ne!(family("rdn:1(ring:4)"), family("rdn:1(hypercube:2)"));
        assert_eq!(family("rdn:1(rdn:1(ring:2))"), "rdn over rdn:1(ring:2)");
        assert_ne!(family("graph:a.txt"), family("graph:b.txt"));
    }
}

//! The dimension and direction in which each class of nodes sends.
//!
//! | 3D torus | z even | z odd |
//! | --- | --- | --- |
//! | Phase 1 | pattern A, by (x + y) mod 4 | along z (pattern C): forwards for z mod 4 = 1, backwards for 3 |
//! | Phase 2 | pattern B | pattern A |
//! | Phase 3 | along z (pattern C): forwards for z mod 4 = 0, backwards for 2 | pattern B |
//!
//! Patterns A and B are the rules (1) to (8) that the paper prints for the 2D torus. Section 3.2.2
//! extends them to n dimensions. Nodes whose coordinate in dimension n is even first use the
//! pattern of n - 1 dimensions, and then send along dimension n. The other nodes first send along
//! dimension n.
//!
//! Erratum: for 3D, the paper contradicts itself about planes with an odd z. In the displayed rules
//! of Phases 2 and 3, pattern B is before pattern A; in the text, A is before B. A mixture of the
//! two orders loses blocks. This module uses the order of the text, because only this order can be
//! extended to n dimensions.
//!
//! In a mesh the same rules give the dimension. The classes EE and OO of the paper are the nodes
//! with an even sum c + r of column and row. The direction is the forward direction of the node's
//! logical ring. For meshes of three and more dimensions the paper has only a figure.

use crate::network::NetworkKind;

const C: usize = 0;
const R: usize = 1;

/// The rules (1) to (8): the dimension and the direction for each value of row plus column modulo
/// 4, in Phase 1 (pattern A) and Phase 2 (pattern B).
const PLANE: [[(usize, i8); 4]; 2] =
    [[(C, 1), (R, 1), (C, -1), (R, -1)], [(R, 1), (C, 1), (R, -1), (C, -1)]];

/// Returns the dimension and the direction in which node `x` sends. `turn` is the number (from 1)
/// of a ring phase or of a step of Phase n+1.
///
/// A node of a torus sends in this direction even if the opposite direction is equally short, as
/// for four hops on a ring of eight nodes. Otherwise, the two classes of nodes on a line would
/// share links.
pub fn direction(kind: NetworkKind, x: &[u64], mut turn: usize) -> (usize, i8) {
    let directed = |printed| if kind == NetworkKind::Torus { printed } else { 1 };
    for k in (2..x.len()).rev() {
        let own_turn = if x[k].is_multiple_of(2) { k + 1 } else { 1 };
        if turn == own_turn {
            return (k, directed(if x[k] % 4 < 2 { 1 } else { -1 }));
        }
        turn -= usize::from(turn > own_turn);
    }
    let (k, printed) = PLANE[turn - 1][((x[0] + x[1]) % 4) as usize];
    (k, directed(printed))
}

//! The end of a step: the pieces in flight become part of the holdings of their receivers.
//!
//! The list of each receiver is rebuilt once. If values were inserted into a long list one by one,
//! each of them would take time proportional to the length of the list.

use super::{Piece, TokenExchange, TokenSend};
use crate::delivery::fault::{DeliveryFault, Fault};

/// The pieces of one class in a send.
#[derive(Debug, Clone, Copy)]
struct Value<'a> {
    /// Number of the send in the current step.
    send: usize,
    pieces: &'a [Piece],
}

impl TokenExchange {
    /// Moves every piece in flight to the holdings of its receiver. If several sends are faulty,
    /// returns the error of the first one.
    pub(super) fn receive_all(&mut self) -> Result<(), Fault> {
        let in_flight = std::mem::take(&mut self.in_flight);
        let sends = std::mem::take(&mut self.sends);
        let mut order: Vec<usize> = (0..sends.len()).collect();
        order.sort_by_key(|send| sends[*send].to);
        let (mut values, mut first) = (Vec::new(), None);
        for to_one in order.chunk_by(|a, b| sends[*a].to == sends[*b].to) {
            // List the values of one receiver, sorted by class. The values of the same class stay
            // in the order of the sends.
            values.clear();
            for &send in to_one {
                let end = sends.get(send + 1).map_or(in_flight.len(), |next| next.first);
                let pieces = &in_flight[sends[send].first..end];
                let of_send = pieces.chunk_by(|a, b| a.class == b.class);
                values.extend(of_send.map(|pieces| Value { send, pieces }));
            }
            values.sort_by_key(|value| value.pieces[0].class);
            self.receive(&sends, &values, &mut first);
        }
        let placement = &self.inventory.placement;
        let receivers = sends.iter().map(|send| placement.physical(send.to));
        self.loads.end_step(receivers);
        // Keep the emptied lists, so that the next step reuses their memory.
        (self.in_flight, self.sends) = (in_flight, sends);
        self.in_flight.clear();
        self.sends.clear();
        first.map_or(Ok(()), |(_, fault)| Err(Fault::Delivery(self.step, fault)))
    }

    /// Adds values, in ascending order of their classes, to the holdings of their receiver. Updates
    /// `first`, the fault to report: the one of the first faulty send and, in this send, of the
    /// lowest class.
    fn receive(
        &mut self,
        sends: &[TokenSend],
        values: &[Value<'_>],
        first: &mut Option<((usize, u32), DeliveryFault)>,
    ) {
        let Some(to) = values.first().map(|value| sends[value.send].to) else { return };
        let held = std::mem::take(&mut self.holdings[to as usize]);
        let received: usize = values.iter().map(|value| value.pieces.len()).sum();
        let mut holdings = Vec::with_capacity(held.len() + received);
        let (mut rest, mut own) = (&held[..], Vec::new());
        for of_class in values.chunk_by(|a, b| a.pieces[0].class == b.pieces[0].class) {
            let class = of_class[0].pieces[0].class;
            let (before, from) = rest.split_at(rest.partition_point(|piece| piece.class < class));
            let (held_own, after) =
                from.split_at(from.partition_point(|piece| piece.class == class));
            holdings.extend_from_slice(before);
            own.clear();
            own.extend_from_slice(held_own);
            for value in of_class {
                let key = (value.send, class);
                if let Err(fault) = self.update(&sends[value.send], value.pieces, &mut own)
                    && first.as_ref().is_none_or(|(earlier, _)| key < *earlier)
                {
                    *first = Some((key, fault));
                }
            }
            holdings.extend_from_slice(&own);
            rest = after;
        }
        holdings.extend_from_slice(rest);
        self.holdings[to as usize] = holdings;
    }

    /// Updates `own`, the receiver's pieces of a class, by a received value. In a dispatch, the
    /// receiver must not hold the class. In a combine, the value is combined with the receiver's
    /// value, or replaces this value.
    fn update(
        &mut self,
        send: &TokenSend,
        received: &[Piece],
        own: &mut Vec<Piece>,
    ) -> Result<(), DeliveryFault> {
        if !own.is_empty() {
            let node = || self.inventory.placement.locate(send.to);
            let is_received = |own: &&Piece| received.iter().any(|p| p.origin == own.origin);
            let twice = own.iter().find(is_received);
            if !self.sums() {
                let block = self.block(twice.unwrap_or(&own[0]));
                return Err(DeliveryFault::DeliveredTwice { node: node(), block });
            }
            if send.combine {
                if let Some(twice) = twice {
                    let block = self.block(twice);
                    return Err(DeliveryFault::CountedTwice { node: node(), block });
                }
            } else if let Some(lost) = own.iter().find(|own| !is_received(own)) {
                return Err(DeliveryFault::Replaced { node: node(), block: self.block(lost) });
            }
            // The loads count two values of the class at the receiver. Only one remains: either the
            // sum of the two, or the received value, which replaces the other.
            let account = self.inventory.placement.physical(send.to);
            let load = self.bytes(&received[0]);
            self.loads.discarded(account, load);
            if send.combine {
                self.loads.summed(account, load);
            } else {
                own.clear();
            }
        }
        own.extend_from_slice(received);
        own.sort_unstable_by_key(Piece::key);
        Ok(())
    }
}

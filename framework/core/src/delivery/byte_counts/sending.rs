//! The execution of sends in a schedule of byte counts.

use super::redistributing::UNSENT;
use super::{ALL_BYTES, ByteCounts, ByteSelection, ByteSend, ElementCount};
use crate::delivery::contents::Contents;
use crate::delivery::fault::{Fault, SendFault};

impl<T: ElementCount> ByteCounts<T> {
    /// Executes one send and returns the number of sent bytes, or `None` if no bytes are sent.
    pub(super) fn send_elements(&mut self, send: &ByteSend<'_>) -> Result<Option<u64>, Fault> {
        let (from, to) = (send.from, send.to);
        Fault::check_ends(self.step, (from, to), self.nodes as u64)?;
        if from == to && !send.local {
            return Err(Fault::Send(
                self.step,
                SendFault::SentToItself { node: self.placement.locate(from) },
            ));
        }
        let elements = match send.what {
            ByteSelection::Bucket(bucket) => self.send_bucket(from, to, bucket)?,
            ByteSelection::Listed(byte_counts) => self.send_listed(from, to, byte_counts)?,
        };
        let bytes = elements * self.units.element_bytes;
        self.loads.moved((from, to), false, bytes);
        if elements > 0 && from != to {
            self.receivers.push(to as u32);
        }
        Ok((elements > 0).then_some(bytes))
    }

    fn send_bucket(&mut self, from: u64, to: u64, bucket: u64) -> Result<u64, Fault> {
        let step = self.step;
        let bad = |what: String| Fault::Send(step, SendFault::BadByteSend { from, to, what });
        let Some(redistributed) = &mut self.redistributed[from as usize] else {
            return Err(bad(format!(
                "selects bucket {bucket}, but node {from} has redistributed nothing"
            )));
        };
        let buckets = redistributed.sizes.len();
        let Some(receiver) =
            usize::try_from(bucket).ok().and_then(|h| redistributed.receivers.get_mut(h))
        else {
            return Err(bad(format!(
                "selects bucket {bucket}, but node {from} redistributed buckets 0 to {}",
                buckets - 1
            )));
        };
        if *receiver != UNSENT {
            return Err(bad(format!(
                "selects bucket {bucket}, which node {from} has already sent"
            )));
        }
        *receiver = to as u32;
        self.latest_arrival = redistributed.latest_arrival;
        self.contents = Contents::Several;
        redistributed.steps[bucket as usize] = u32::try_from(step).unwrap_or(u32::MAX);
        if self.unsettled == 0 {
            self.unsettled_since = step;
        }
        self.unsettled += 1;
        Ok(redistributed.sizes[bucket as usize])
    }

    fn send_listed(
        &mut self,
        from: u64,
        to: u64,
        byte_counts: &[(u64, u64)],
    ) -> Result<u64, Fault> {
        // Complete the sender's row in the table of holdings: add the buckets that the sender
        // received in earlier steps.
        self.settle(self.step)?;
        self.materialize(from as usize)?;
        self.latest_arrival = self.last_receipts[from as usize];
        let (step, element, nodes) = (self.step, self.units.element_bytes, self.nodes as u64);
        let bad = |what: String| Fault::Send(step, SendFault::BadByteSend { from, to, what });
        // Move the listed bytes from the row into flight.
        let mut sum = 0;
        self.contents = Contents::Nothing;
        for &(destination, bytes) in byte_counts {
            if destination >= nodes {
                return Err(bad(format!(
                    "names bytes for node {destination}, the last node is {}",
                    nodes - 1
                )));
            }
            let held = &mut self.holdings[from as usize][destination as usize];
            let has: u64 = (*held).into();
            if bytes != ALL_BYTES && !bytes.is_multiple_of(element) {
                return Err(bad(format!(
                    "names {bytes} bytes for node {destination}, expected a multiple of {element}"
                )));
            }
            let elements = if bytes == ALL_BYTES { has } else { bytes / element };
            let Some(rest) = has.checked_sub(elements) else {
                let has = has * element;
                return Err(bad(format!(
                    "names {bytes} bytes for node {destination}, but node {from} holds only {has}"
                )));
            };
            *held = T::of(rest);
            sum += elements;
            if elements > 0 {
                self.contents = self.contents.and(Contents::One(0, destination));
            }
            self.arriving.push((to as u32, destination as u32, elements));
        }
        Ok(sum)
    }
}

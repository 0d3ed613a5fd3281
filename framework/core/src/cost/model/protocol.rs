//! The protocols of message-passing libraries. A short message is sent *eagerly*: it is copied
//! through buffers, which costs time for each byte. For a longer message, the sender and the
//! receiver first agree on a direct transfer (*rendezvous*), which costs a fixed time.

use crate::cost::parameter::{DefaultValue, TypedParameter};

pub(super) static RENDEZVOUS_BYTES: TypedParameter<u64> = TypedParameter {
    key: "rendezvous_bytes",
    meaning: "a message with more bytes is sent by rendezvous: in loggp, its sender waits until the message is matched; in the other models, its start-up takes rendezvous_us longer",
    symbols: "S",
    default: DefaultValue::Text("65535"),
    read: |text| text.parse().map_err(|_| "a whole number of bytes".to_owned()),
};

pub(super) static RENDEZVOUS_US: TypedParameter<f64> = TypedParameter::micros(
    "rendezvous_us",
    "additional start-up time of a message with more than rendezvous_bytes",
    "",
);

pub(super) static EAGER_BYTE_US: TypedParameter<f64> = TypedParameter::micros(
    "eager_byte_us",
    "additional start-up time for each byte of a message with at most rendezvous_bytes",
    "",
);

#[derive(Debug, Clone, Copy)]
pub(super) struct Protocols {
    pub rendezvous_bytes: u64,
    pub rendezvous_us: f64,
    pub eager_byte_us: f64,
}

impl Protocols {
    pub(super) fn startup_us(&self, bytes: f64) -> f64 {
        if bytes > self.rendezvous_bytes as f64 {
            self.rendezvous_us
        } else {
            bytes * self.eager_byte_us
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cost::kind::Kind;
    use crate::cost::machine::Machine;
    use crate::cost::model::PricingContext;
    use crate::cost::model::test_steps::{cost, run, sends};
    use crate::network::topology::parse;

    /// A step takes 2 µs, and 1 µs per byte for messages of up to 8 bytes, or 5 µs for longer ones.
    #[test]
    fn the_longest_message_decides_the_protocol_of_a_step() {
        let machine = "free:startup_us=2,eager_byte_us=1,rendezvous_bytes=8,rendezvous_us=5";
        for (bytes, us) in [(0, 2.0), (4, 6.0), (8, 10.0), (9, 7.0)] {
            let parts = cost("ring:4", machine, &[&[(0, 1, bytes)]]).parts;
            assert_eq!((parts[Kind::Startup], parts.total()), (Some(us), us), "{bytes} bytes");
        }
        let both = cost("ring:4", machine, &[&[(0, 1, 4), (2, 3, 9)]]);
        assert_eq!(both.parts.total(), 7.0);
        let rounds = cost("ring:4", machine, &[&[(0, 1, 4), (0, 3, 4)]]);
        assert_eq!(rounds.parts.total(), 12.0);
        assert_eq!(
            cost("ring:4", "free:startup_us=2,rendezvous_bytes=3", &[&[(0, 1, 4)]]).parts.total(),
            2.0
        );
    }

    /// A message of 2 blocks of 4 bytes is sent eagerly, one of 3 blocks by rendezvous.
    #[test]
    fn the_protocol_depends_on_bytes_and_not_on_blocks() {
        let machine = "free:startup_us=2,eager_byte_us=1,rendezvous_bytes=8,rendezvous_us=5";
        let topology = parse("ring:4").unwrap();
        for (blocks, us) in [(1, 6.0), (2, 10.0), (3, 7.0)] {
            let context = PricingContext::new(&topology, 4.0);
            let mut evaluator = Machine::parse(machine).unwrap().evaluator(context);
            let steps = sends(&[[(0, 1, blocks)]]);
            run(&topology, evaluator.as_mut(), &steps, &[], |_, _| 0);
            assert_eq!(evaluator.cost().unwrap().parts.total(), us, "{blocks} blocks");
        }
    }

    #[test]
    fn each_message_of_fluid_has_a_protocol() {
        let machine = "free:model=fluid,eager_byte_us=1,rendezvous_bytes=8,rendezvous_us=5";
        let total = |steps: &[&[(u32, u32, u64)]]| cost("ring:4", machine, steps).parts.total();
        assert_eq!(total(&[&[(0, 1, 4), (2, 3, 9)]]), 5.0);
        assert_eq!(total(&[&[(0, 1, 8)], &[(1, 2, 9)]]), 13.0);
        assert_eq!(total(&[&[(0, 1, 3), (0, 3, 4)]]), 7.0);
    }

    /// Three bytes cross one link, and one byte crosses three links: (3 * 1 + 1 * 3) / 4 = 1.5
    /// hops.
    #[test]
    fn hops_of_a_step_are_those_of_the_longest_route_or_the_mean() {
        let steps: &[&[(u32, u32, u64)]] = &[&[(0, 1, 3), (2, 5, 1)]];
        let us = |hops: &str| cost("ring:8", &format!("free:hop_us=1,hops={hops}"), steps).parts;
        assert_eq!(us("longest")[Kind::Propagation], Some(3.0));
        assert_eq!(us("mean")[Kind::Propagation], Some(1.5));
    }
}

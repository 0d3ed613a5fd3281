use std::ops::RangeInclusive;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, CollectiveKind};
use swapmeet_core::spec::{Arg, Spec, SpecError, parse_size};

/// The key that stands for the argument without a key, such as `64` in `uniform:64`.
pub(crate) const WORD: &str = "";
/// The largest size of a block, so that sums over the blocks of a node cannot overflow.
pub(crate) const MAX_BYTES: u64 = 1 << 40;

/// An argument that workloads of all generators have.
#[derive(Debug)]
pub struct CommonArgument {
    pub key: &'static str,
    pub help: &'static str,
    /// Returns whether workloads of a collective have the argument.
    pub fits: fn(&CollectiveKind) -> bool,
}

static COMMON: &[CommonArgument] = &[
    CommonArgument { key: "root", help: "the number of the root", fits: CollectiveKind::is_rooted },
    CommonArgument { key: "element", help: "bytes of an element", fits: |_| true },
    CommonArgument { key: "empty", help: "send or skip empty blocks", fits: |_| true },
    CommonArgument {
        key: "over",
        help: "the axes, size or file of the communicators",
        fits: |_| true,
    },
];

/// Returns the arguments that all workloads of a collective have.
pub fn common_arguments(
    collective: &CollectiveKind,
) -> impl Iterator<Item = &'static CommonArgument> {
    COMMON.iter().filter(|argument| (argument.fits)(collective))
}

/// Returns the syntax of the common arguments that only some collectives have, such as `,root=N`.
///
/// ```
/// use swapmeet_core::delivery::collective::{ALL_TO_ALL, GATHER};
/// use swapmeet_workloads::own_syntax;
/// assert_eq!([own_syntax(&GATHER), own_syntax(&ALL_TO_ALL)], [",root=N", ""]);
/// ```
pub fn own_syntax(collective: &CollectiveKind) -> String {
    let own = common_arguments(collective).filter(|argument| !(argument.fits)(&ALL_TO_ALL));
    own.map(|argument| format!(",{}=N", argument.key)).collect()
}

/// A property of a workload that can be the horizontal axis of a plot with curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    /// The number of bytes of a block. If blocks differ in size, it is the mean or the large size,
    /// depending on the generator.
    BlockSize,
    Variation,
}

pub(crate) struct Args<'a> {
    pub spec: &'a Spec,
    unread: Vec<&'a Arg>,
    pub element: u64,
    pub collective: &'static CollectiveKind,
}

impl<'a> Args<'a> {
    pub(crate) fn new(spec: &'a Spec, collective: &'static CollectiveKind) -> Self {
        Self { spec, unread: spec.args().iter().collect(), element: 1, collective }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<&'a Arg> {
        let at = self.unread.iter().position(|a| a.key() == Some(key))?;
        Some(self.unread.remove(at))
    }

    pub(crate) fn require(&mut self, key: &str) -> Result<&'a Arg, SpecError> {
        let missing = self.missing(key);
        self.take(key).ok_or(missing)
    }

    pub(crate) fn missing(&self, key: &str) -> SpecError {
        self.spec.error(0, self.spec.name().len(), &format!("`{key}=` is missing"))
    }

    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a Arg, SpecError> {
        match self.unread.iter().position(|a| a.key().is_none()) {
            Some(at) => Ok(self.unread.remove(at)),
            None => {
                Err(self.spec.error(0, self.spec.name().len(), &format!("expected {expected}")))
            }
        }
    }

    pub(crate) fn size(&self, arg: &Arg) -> Result<u64, SpecError> {
        let bytes =
            parse_size(arg.value()).map_err(|expected| self.spec.bad_value(arg, &expected))?;
        if bytes > MAX_BYTES {
            return Err(self.spec.bad_value(arg, "a size of at most 1024GiB for each pair"));
        }
        Ok(bytes)
    }

    pub(crate) fn whole(&self, arg: &Arg, bounds: RangeInclusive<u64>) -> Result<u64, SpecError> {
        let expected = || format!("a whole number from {} to {}", bounds.start(), bounds.end());
        let number = arg.value().parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| self.spec.bad_value(arg, &expected()))
    }

    pub(crate) fn number(&self, arg: &Arg, bounds: RangeInclusive<f64>) -> Result<f64, SpecError> {
        let expected = || format!("a number from {} to {}", bounds.start(), bounds.end());
        let number = arg.value().parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| self.spec.bad_value(arg, &expected()))
    }

    pub(crate) fn whole_elements(&self, arg: &Arg) -> Result<u64, SpecError> {
        let (bytes, element) = (self.size(arg)?, self.element);
        if !bytes.is_multiple_of(element) {
            return Err(self
                .spec
                .bad_value(arg, &format!("a multiple of the element, {element} bytes")));
        }
        Ok(bytes)
    }

    pub(crate) fn finish(&self, own: &[&str]) -> Result<(), SpecError> {
        let Some(extra) = self.unread.first() else { return Ok(()) };
        let own = own.iter().copied().filter(|key| *key != WORD);
        let common = common_arguments(self.collective).map(|argument| argument.key);
        Err(self.spec.unknown_key(extra, own.chain(common)))
    }
}

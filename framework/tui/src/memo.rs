//! Values that are computed again only when their inputs change.

use std::cell::RefCell;
use std::rc::Rc;

/// The last result of a computation, and its inputs (`K`).
#[derive(Debug)]
pub(crate) struct Memo<K, V>(RefCell<Option<(K, Rc<V>)>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RefCell::new(None))
    }
}

impl<K: PartialEq, V> Memo<K, V> {
    pub(crate) fn get(&self, inputs: K, compute: impl FnOnce() -> V) -> Rc<V> {
        let mut last = self.0.borrow_mut();
        if let Some((known, value)) = &*last
            && *known == inputs
        {
            return Rc::clone(value);
        }
        let value = Rc::new(compute());
        *last = Some((inputs, Rc::clone(&value)));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_result_is_computed_once_for_equal_inputs() {
        let (memo, computed) = (Memo::default(), Cell::new(0));
        let get = |input: &'static str| {
            *memo.get(input, || {
                computed.set(computed.get() + 1);
                input.len()
            })
        };
        assert_eq!((get("a"), get("a"), computed.get()), (1, 1, 1));
        assert_eq!((get("bc"), get("bc"), computed.get()), (2, 2, 2));
    }
}

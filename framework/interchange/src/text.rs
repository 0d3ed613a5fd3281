/// A part of a text. Unlike `std::fmt::Display`, it has no width or precision, so that a number is
/// appended several times as fast as by `write!`.
pub trait Piece {
    fn append_to(self, text: &mut String);
}

impl Piece for &str {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push_str(self);
    }
}

impl Piece for char {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push(self);
    }
}

impl Piece for u64 {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push_str(itoa::Buffer::new().format(self));
    }
}

impl Piece for bool {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push_str(if self { "true" } else { "false" });
    }
}

#[macro_export]
macro_rules! append {
    ($text:expr, $($piece:expr),+ $(,)?) => {{
        $($crate::text::Piece::append_to($piece, $text);)+
    }};
}

pub fn append_list<T>(
    text: &mut String,
    separator: &str,
    items: impl IntoIterator<Item = T>,
    mut append_item: impl FnMut(&mut String, T),
) {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            text.push_str(separator);
        }
        append_item(text, item);
    }
}

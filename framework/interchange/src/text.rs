/// A value that can be appended to a text. This is several times as fast as `write!`.
pub trait TextPart {
    fn append_to(self, text: &mut String);
}

impl TextPart for &str {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push_str(self);
    }
}

impl TextPart for char {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push(self);
    }
}

impl TextPart for u64 {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push_str(itoa::Buffer::new().format(self));
    }
}

impl TextPart for bool {
    #[inline]
    fn append_to(self, text: &mut String) {
        text.push_str(if self { "true" } else { "false" });
    }
}

#[macro_export]
macro_rules! append {
    ($text:expr, $($piece:expr),+ $(,)?) => {{
        $($crate::text::TextPart::append_to($piece, $text);)+
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

use super::list;
use swapmeet_results::escaped;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The path relative to the folder of the report.
    pub path: String,
    pub title: String,
}

pub(super) fn schedules(links: &[Link]) -> String {
    let link = |link: &Link| {
        format!("<a href=\"{}\">{}</a>", escaped(&address(&link.path)), escaped(&link.title))
    };
    list(links.iter().map(link))
}

/// Encodes the characters of a path that have a meaning in URLs. A relative path gets the prefix
/// `./`, because otherwise the text before a colon would be taken for the name of a protocol.
fn address(path: &str) -> String {
    let mut address = if path.starts_with('/') { String::new() } else { "./".to_owned() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                address.push(char::from(byte));
            }
            _ => address += &format!("%{byte:02X}"),
        }
    }
    address
}

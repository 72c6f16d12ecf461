//! What a PTX text says without being compiled: what it is for, and its kernels.
//!
//! Source: "PTX ISA", Source Format, Comments, Directives `.target` and `.entry`.

use crate::error::Result;
use crate::source::Source;
use crate::span::Span;

/// Bytes that are read at once.
const CHUNK: u64 = 1 << 16;
/// Bytes of a word, at most: longer ones are no names.
const WORD: usize = 1 << 16;

/// Where in the text a byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    /// A slash, with which a comment may begin.
    Slash,
    Line,
    Block,
    /// A star in a comment, with which it may end.
    Star,
    Quotes,
}

/// Hands each word of the text to `each`, outside of comments and quotes, until that wants no more.
fn words(source: &Source, each: &mut dyn FnMut(&str) -> bool) -> Result<()> {
    let mut within = Within::Text;
    let mut word = Vec::new();
    let mut at = 0;
    while at < source.size() {
        let window = Span::new(at, CHUNK).clamp(source.size());
        for &byte in source.read(window)?.iter() {
            within = match (within, byte) {
                (Within::Line, b'\n') | (Within::Quotes, b'"') | (Within::Star, b'/') => {
                    Within::Text
                }
                (Within::Line | Within::Quotes, _) => within,
                (Within::Block | Within::Star, b'*') => Within::Star,
                (Within::Block | Within::Star, _) => Within::Block,
                (Within::Slash, b'/') => Within::Line,
                (Within::Slash, b'*') => Within::Block,
                (_, b'/') => Within::Slash,
                (_, b'"') => Within::Quotes,
                _ => Within::Text,
            };
            let is_of_word = byte.is_ascii_alphanumeric() || b"_$%.".contains(&byte);
            if within == Within::Text && is_of_word {
                if word.len() <= WORD {
                    word.push(byte);
                }
            } else if !word.is_empty() {
                let is_name = word.len() <= WORD;
                if is_name && !each(std::str::from_utf8(&word).unwrap_or_default()) {
                    return Ok(());
                }
                word.clear();
            }
        }
        at = window.end();
    }
    if !word.is_empty() && word.len() <= WORD {
        each(std::str::from_utf8(&word).unwrap_or_default());
    }
    Ok(())
}

/// Hands the name of each kernel of the PTX text to `each`, in the order in which they stand there.
///
/// # Errors
/// If its bytes cannot be read.
pub fn entries(source: &Source, each: &mut dyn FnMut(&str)) -> Result<()> {
    let mut is_named_next = false;
    words(source, &mut |word| {
        if is_named_next && !word.starts_with('.') {
            each(word);
        }
        is_named_next = word == ".entry";
        true
    })
}

/// What the PTX text is for, as its first `.target` says it: `sm_90a`.
///
/// # Errors
/// If its bytes cannot be read.
pub fn target(source: &Source) -> Result<Option<String>> {
    let mut found = None;
    let mut is_named_next = false;
    words(source, &mut |word| {
        if is_named_next {
            found = Some(word.to_owned());
        }
        is_named_next = word == ".target";
        found.is_none()
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Option<String>, Vec<String>) {
        let source = Source::memory(text.as_bytes());
        let mut names = Vec::new();
        entries(&source, &mut |name| names.push(name.to_owned())).unwrap();
        (target(&source).unwrap(), names)
    }

    #[test]
    fn kernels_are_found_outside_of_comments_and_quotes() {
        let text = "// .entry no\n.version 8.8\n.target sm_90a, debug /* .target ** / .entry no */\n\
            .visible .entry _Z1fPi(\n.param .u64 a)\n{ ret; }\n.file 1 \"/* .entry no\"\n\
            .entry /**/ $g_1{ ret; }\n.weak .entry\n%h";
        let names = ["_Z1fPi", "$g_1", "%h"].map(String::from).to_vec();
        assert_eq!(found(text), (Some("sm_90a".into()), names));
        assert_eq!(found(""), (None, Vec::new()));
        assert_eq!(found(".target"), (None, Vec::new()));
        assert_eq!(found("a/b .entry c/"), (None, vec!["c".into()]));
    }

    #[test]
    fn words_go_on_from_one_slice_to_the_next_and_are_bounded() {
        let before = " ".repeat(CHUNK as usize - 3);
        assert_eq!(found(&format!("{before}.entry k(")).1, ["k"]);
        let long = "x".repeat(WORD + 1);
        assert_eq!(found(&format!(".entry {long} .entry k")).1, ["k"]);
        let longest = "x".repeat(WORD);
        assert_eq!(found(&format!(".entry {longest}")).1, [longest.as_str()]);
    }
}

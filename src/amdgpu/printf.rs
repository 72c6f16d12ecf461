//! Calls of printf, as metadata lists them: `ID:N:S[0]:…:S[N-1]:format`.

use std::fmt;

/// A call of printf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printf {
    /// What the code writes to the buffer for it; 0 where it writes the hash instead.
    pub id: u32,
    /// What stands for the format in the buffer where the compiler does not number calls.
    pub hash: Option<u64>,
    /// Bytes of each argument in the buffer.
    pub sizes: Vec<u32>,
    /// The format, escapes undone.
    pub format: String,
}

impl Printf {
    /// Takes `text` apart; `None` where it is not as the compiler writes it. Colons in the format are escaped, as
    /// they stand between the parts; that of a call without a number, `0:0:hash,format`, is as in the source.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, rest) = text.split_once(':')?;
        let (count, mut rest) = rest.split_once(':')?;
        let id = number(id)?;
        let mut sizes = Vec::new();
        for _ in 0..number(count)? {
            let (size, behind) = rest.split_once(':')?;
            sizes.push(number(size)?);
            rest = behind;
        }
        let hashed = rest.split_once(',').filter(|_| id == 0 && sizes.is_empty());
        let hashed = hashed.and_then(|(hash, format)| Some((hexadecimal(hash)?, format)));
        Some(match hashed {
            Some((hash, format)) => Self {
                id,
                hash: Some(hash),
                sizes,
                format: format.into(),
            },
            None => Self {
                id,
                hash: None,
                sizes,
                format: unescaped(rest),
            },
        })
    }

    /// What it is asked for by, in words.
    pub fn key(&self) -> String {
        match self.hash {
            Some(hash) => format!("0x{hash:x}"),
            None => self.id.to_string(),
        }
    }

    /// The sizes of its arguments, in words.
    pub fn sizes_text(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(u32::to_string).collect();
        sizes.join(", ")
    }
}

/// In words: `printf 2, arguments of 8, 16 bytes: "%f"`.
impl fmt::Display for Printf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "printf {}", self.key())?;
        if !self.sizes.is_empty() {
            write!(f, ", arguments of {} bytes", self.sizes_text())?;
        }
        write!(f, ": {:?}", self.format)
    }
}

/// A number without a sign: the standard parser takes one.
fn number(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

fn hexadecimal(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| is_plain)
}

/// `text` with the escapes undone that LLVM makes (`AMDGPUPrintfRuntimeBinding`). It does not escape backslashes, so
/// whatever else follows one stands.
fn unescaped(text: &str) -> String {
    const ESCAPES: [(&str, char); 7] = [
        ("a", '\u{7}'),
        ("b", '\u{8}'),
        ("f", '\u{c}'),
        ("n", '\n'),
        ("r", '\r'),
        ("v", '\u{b}'),
        ("72", ':'),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let escape = ESCAPES
            .iter()
            .find_map(|(escape, c)| Some((behind.strip_prefix(escape)?, *c)));
        let (next, c) = escape.unwrap_or((behind, '\\'));
        out.push(c);
        rest = next;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_taken_apart() {
        // The calls of print.cl: "lane %u of \"%s\": %d%%\n" with a string of up to 12 bytes, and so on.
        let call = Printf::parse("3:3:4:12:4:lane %u of \"%s\"\\72 %d%%\\n").unwrap();
        assert_eq!((call.id, &call.sizes[..]), (3, &[4, 12, 4][..]));
        assert_eq!(call.format, "lane %u of \"%s\": %d%%\n");
        let call = Printf::parse("1:0:no arguments\\n").unwrap();
        assert_eq!((call.sizes.len(), &*call.format), (0, "no arguments\n"));
        let call = Printf::parse("2:1:8:\\ \\q \\").unwrap();
        assert_eq!(call.format, "\\ \\q \\");
        // clang 22 with -mprintf-kind=buffered writes this for printf("a: %d\n", x).
        let call = Printf::parse("0:0:2b82592166b245cd,a: %d\n").unwrap();
        assert_eq!(call.hash, Some(0x2b82_5921_66b2_45cd));
        assert_eq!(call.format, "a: %d\n");
        // What only looks like a hash.
        let call = Printf::parse("1:0:abc,d").unwrap();
        assert_eq!((call.hash, &*call.format), (None, "abc,d"));
    }

    #[test]
    fn what_is_no_call_is_none() {
        for text in [
            "",
            "1",
            "1:",
            "1:1:4",
            "x:0:f",
            "1:-1:f",
            "+1:0:f",
            "1:4294967295:4:f",
        ] {
            assert_eq!(Printf::parse(text), None, "{text}");
        }
        assert!(Printf::parse("1:0:").is_some());
    }
}

//! What the headers of Zstandard frames tell: RFC 8878, 3.1.

/// What a frame begins with.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Bytes that a frame's header takes at most.
pub const HEADER: usize = 18;

/// Where the window descriptor is in a header that has one.
pub const WINDOW: usize = 5;

/// Bytes of the checksum behind a frame.
pub const CHECKSUM: u64 = 4;

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Bytes that the header takes.
    pub header: usize,
    /// Bytes that the window descriptor, the dictionary's number and the size in it take.
    pub fields: [usize; 3],
    /// Bytes that the frame unpacks to, where it says so.
    pub size: Option<u64>,
    /// Bytes that its decoder has to remember; of a single segment all of it.
    pub window: u64,
    /// The number of the dictionary that it is packed with, 0 for none that is said.
    pub dictionary: u32,
    /// Whether a checksum is behind its last block.
    pub has_checksum: bool,
    /// Whether the bit is set that has to be zero.
    pub is_reserved: bool,
}

/// A block of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes that it takes, with its header.
    pub size: u64,
    /// Whether it is the frame's last one.
    pub is_last: bool,
}

/// The header that `bytes` begin with: 3.1.1.1.
pub fn frame(bytes: &[u8]) -> Option<Frame> {
    // The descriptor says which of the fields behind it there are, and how wide.
    let descriptor = *bytes.strip_prefix(&MAGIC)?.first()?;
    let is_single = descriptor & 0x20 != 0;
    let window = usize::from(!is_single);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
    let at = WINDOW + window + dictionary;
    let number = |at: usize, size: usize| {
        let mut number = [0; 8];
        number[..size].copy_from_slice(bytes.get(at..at + size)?);
        Some(u64::from_le_bytes(number))
    };
    // Of two bytes 0 stands for the least that one byte does not say.
    let least = if content == 2 { 256 } else { 0 };
    let size = number(at, content)?.saturating_add(least);
    let window_descriptor = number(WINDOW, window)?;
    let base = 1 << (10 + (window_descriptor >> 3));
    Some(Frame {
        header: at + content,
        fields: [window, dictionary, content],
        size: (content > 0).then_some(size),
        window: match is_single {
            true => size,
            false => base + base / 8 * (window_descriptor & 7),
        },
        dictionary: number(WINDOW + window, dictionary)? as u32,
        has_checksum: descriptor & 4 != 0,
        is_reserved: descriptor & 8 != 0,
    })
}

/// The block that `bytes` begin with: 3.1.1.2.
pub fn block(bytes: &[u8]) -> Option<Block> {
    let &[a, b, c] = bytes.first_chunk()?;
    // A bit for the last block, two for its type, of which 1 repeats one byte, and its size.
    let header = u32::from_le_bytes([a, b, c, 0]);
    let size = match header >> 1 & 3 {
        1 => 1,
        _ => u64::from(header >> 3),
    };
    Some(Block {
        size: 3 + size,
        is_last: header & 1 != 0,
    })
}

/// Bytes of the frame that `bytes` begin with, if it is one that decoders skip: 3.1.2.
pub fn skipped(bytes: &[u8]) -> Option<u64> {
    match *bytes {
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] => {
            Some(8 + u64::from(u32::from_le_bytes([a, b, c, d])))
        }
        _ => None,
    }
}

/// Whether `bytes` begin with a frame, or with such that are skipped and a frame behind them.
pub fn begins(mut bytes: &[u8]) -> bool {
    while let Some(size) = skipped(bytes) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        bytes = bytes.get(size..).unwrap_or_default();
    }
    bytes.starts_with(&MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_as_wide_as_their_descriptor_says() {
        // RFC 8878, 3.1.1.1: two bits for the size's width, one for a single segment, one for the checksum, two for the dictionary.
        let of = |descriptor: u8, rest: &[u8]| frame(&[&MAGIC[..], &[descriptor], rest].concat());
        let size = |descriptor, rest: &[u8]| {
            let frame = of(descriptor, rest)?;
            Some((frame.header, frame.size))
        };
        assert_eq!(size(0x00, &[0]), Some((6, None)));
        assert_eq!(size(0x20, &[5]), Some((6, Some(5))));
        assert_eq!(size(0x40, &[0, 1, 0]), Some((8, Some(257))));
        assert_eq!(
            size(0x82, &[0, 9, 9, 4, 3, 2, 1]),
            Some((12, Some(0x0102_0304)))
        );
        assert_eq!(size(0xe3, &[0xff; 12]), Some((17, Some(u64::MAX))));
        assert_eq!(size(0xc3, &[0xff; 13]), Some((HEADER, Some(u64::MAX))));
        assert_eq!(size(0xc3, &[0xff; 12]), None, "cut off");
        assert!(of(0x24, &[0]).expect("a header").has_checksum);
        assert!(!of(0x20, &[0]).expect("a header").has_checksum);
        assert!(of(0x28, &[0]).expect("a header").is_reserved);
        // 3.1.1.1.2: 2^(10 + 17) and 3 of its eighths; then a dictionary of two bytes.
        let frame = of(0x02, &[17 << 3 | 3, 0x34, 0x12]).expect("a header");
        assert_eq!(
            (frame.window, frame.dictionary),
            ((1 << 27) / 8 * 11, 0x1234)
        );
        assert!(!frame.is_reserved);
    }

    #[test]
    fn frames_may_stand_behind_such_that_are_skipped() {
        let skipped = [0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7];
        assert!(begins(&[&skipped[..], &skipped, &MAGIC].concat()));
        // An LZ4 frame.
        assert!(!begins(&[&skipped[..], &[0x04, 0x22, 0x4d, 0x18]].concat()));
        assert!(!begins(&skipped));
        assert!(!begins(&[0x53, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff]));
    }
}

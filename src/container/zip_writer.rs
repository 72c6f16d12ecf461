//! Writes zip files. What is in them is stored as it is: what is worth packing in members is packed already, and whoever wants one
//! member back reads it without unpacking the rest.
//!
//! Layouts are those that zip files are read by; sizes, offsets and counts that do not fit are written as Zip64 has them.

use super::tables::{ZIP_CENTRAL, ZIP_END, ZIP_LOCAL, ZIP64_END, ZIP64_LOCATOR};
use crate::record::Layout;

/// What stands for a number that Zip64 has elsewhere.
const ELSEWHERE: u64 = 0xffff_ffff;
/// 1980-01-01: files of the same members are the same.
const DATE: u64 = 0x21;
/// The name is UTF-8.
const UTF8: u64 = 0x800;
/// A file of Unix that everyone may read.
const ATTRIBUTES: u64 = 0o100_644 << 16;
/// Made by that version, with attributes of Unix.
const UNIX: u64 = 0x0300;
/// Versions that are needed to read it: for what zip files are made of, and for Zip64.
const VERSIONS: [u64; 2] = [20, 45];

/// A zip file that is being written.
#[derive(Default)]
pub struct ZipWriter {
    directory: Vec<u8>,
    count: u64,
    /// Bytes so far.
    at: u64,
}

impl ZipWriter {
    /// The header of a file, behind which its bytes have to be written: `size` bytes with that CRC-32. Bytes of `name` past 65,535
    /// are left out.
    pub fn add(&mut self, name: &str, size: u64, sum: u32) -> Vec<u8> {
        let name = &name.as_bytes()[..name.len().min(0xffff)];
        let (is_large, is_far) = (size >= ELSEWHERE, self.at >= ELSEWHERE);
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        let mut common = vec![
            ("version needed", VERSIONS[usize::from(is_large)]),
            ("flags", flags),
            ("date", DATE),
            ("CRC-32", sum.into()),
            ("compressed size", size.min(ELSEWHERE)),
            ("uncompressed size", size.min(ELSEWHERE)),
            ("name length", name.len() as u64),
            ("signature", 0x0403_4b50),
        ];
        let sizes: &[u64] = if is_large { &[size, size] } else { &[] };
        let mut header = Vec::new();
        let mut extra = elsewhere(sizes);
        common.push(("extra length", extra.len() as u64));
        put(&mut header, &ZIP_LOCAL, &common);
        header.extend_from_slice(name);
        header.append(&mut extra);

        let offset: &[u64] = if is_far { &[self.at] } else { &[] };
        let mut extra = elsewhere(&[sizes, offset].concat());
        let version = VERSIONS[usize::from(is_large || is_far)];
        common.extend([
            ("signature", 0x0201_4b50),
            ("version made by", UNIX | version),
            ("version needed", version),
            ("extra length", extra.len() as u64),
            ("external attributes", ATTRIBUTES),
            ("offset of local header", self.at.min(ELSEWHERE)),
        ]);
        put(&mut self.directory, &ZIP_CENTRAL, &common);
        self.directory.extend_from_slice(name);
        self.directory.append(&mut extra);
        self.count += 1;
        self.at = self
            .at
            .saturating_add(header.len() as u64)
            .saturating_add(size);
        header
    }

    /// The directory, with which the file ends.
    pub fn finish(self) -> Vec<u8> {
        let mut end = self.directory;
        let size = end.len() as u64;
        let count = self.count.min(0xffff);
        if count == 0xffff || size >= ELSEWHERE || self.at >= ELSEWHERE {
            let record = [
                ("signature", 0x0606_4b50),
                ("record size", u64::from(ZIP64_END.bytes) - 12),
                ("version made by", VERSIONS[1]),
                ("version needed", VERSIONS[1]),
                ("entries on disk", self.count),
                ("entries", self.count),
                ("directory size", size),
                ("directory offset", self.at),
            ];
            put(&mut end, &ZIP64_END, &record);
            let locator = [
                ("signature", 0x0706_4b50),
                ("record offset", self.at.saturating_add(size)),
                ("disks", 1),
            ];
            put(&mut end, &ZIP64_LOCATOR, &locator);
        }
        let last = [
            ("signature", 0x0605_4b50),
            ("entries on disk", count),
            ("entries", count),
            ("directory size", size.min(ELSEWHERE)),
            ("directory offset", self.at.min(ELSEWHERE)),
        ];
        put(&mut end, &ZIP_END, &last);
        end
    }
}

/// Appends a structure with these fields; of those that are there twice the last one counts, and what the layout lacks is left out.
fn put(out: &mut Vec<u8>, layout: &Layout, fields: &[(&str, u64)]) {
    let at = out.len();
    out.resize(at + layout.bytes as usize, 0);
    for (name, value) in fields {
        let written = layout.write(&mut out[at..], name, *value);
        debug_assert_eq!(written, Ok(()), "{name}");
    }
}

/// The extra field of Zip64 with these numbers; nothing where there are none.
fn elsewhere(numbers: &[u64]) -> Vec<u8> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut field = vec![1, 0, numbers.len() as u8 * 8, 0];
    for number in numbers {
        field.extend_from_slice(&number.to_le_bytes());
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What zipfile of Python 3.11 writes of the same names, with `external_attr = 0o100644 << 16`.
    #[test]
    fn files_are_those_of_another_writer() {
        let mut zip = ZipWriter::default();
        // The check value of CRC-32/ISO-HDLC.
        let mut file = zip.add("vadd.sm_90.cubin", 9, 0xcbf4_3926);
        file.extend_from_slice(b"123456789");
        file.append(&mut zip.add("größe.ptx", 0, 0));
        file.append(&mut zip.finish());
        let expected = "504b0304140000000000000021002639f4cb090000000900000010000000766164642e736d5f39302e637562696e\
            313233343536373839\
            504b0304140000080000000021000000000000000000000000000b0000006772c3b6c39f652e707478\
            504b01021403140000000000000021002639f4cb0900000009000000100000000000000000000000a48100000000766164642e736d5f39302e637562696e\
            504b01021403140000080000000021000000000000000000000000000b0000000000000000000000a481370000006772c3b6c39f652e707478\
            504b0506000000000200020077000000600000000000";
        assert_eq!(hex(&file), expected);
    }

    /// The same of a file of 5 GiB and one behind it (`ZipInfo.FileHeader(zip64=True)`, `ZipFile._write_end_record`).
    #[test]
    fn what_does_not_fit_is_zip64() {
        let mut zip = ZipWriter::default();
        assert_eq!(
            hex(&zip.add("a", 5 << 30, 0x1234_5678)),
            "504b03042d00000000000000210078563412ffffffffffffffff01001400610100100000000040010000000000004001000000"
        );
        assert_eq!(
            hex(&zip.add("b", 9, 0xcbf4_3926)),
            "504b0304140000000000000021002639f4cb09000000090000000100000062"
        );
        let expected = "504b01022d032d00000000000000210078563412ffffffffffffffff010014000000000000000000a48100000000610100100000000040010000000000004001000000\
            504b01022d032d0000000000000021002639f4cb090000000900000001000c000000000000000000a481ffffffff62010008003300004001000000\
            504b06062c000000000000002d002d000000000000000000020000000000000002000000000000007e000000000000005b00004001000000\
            504b060700000000d90000400100000001000000\
            504b050600000000020002007e000000ffffffff0000";
        assert_eq!(hex(&zip.finish()), expected);
    }
}

//! Launch descriptors (QMD, "queue meta data"): which versions there are, which one some bytes are of, what is to be said of them.
//!
//! The layouts are data, `tables/nvidia/qmd.toml`. Bytes that no field of a version has are fields named `gap`.

use super::tables;
use crate::error::{Diagnostic, Kind};
use crate::record::{self, Layout, Raw, Record};

/// A version of the descriptor.
#[derive(Debug)]
pub struct Version {
    /// Major and minor version as NVIDIA's headers write them, such as `03.00`.
    pub key: &'static str,
    /// Bytes of a descriptor.
    pub bytes: usize,
    /// Where its fields are.
    pub layout: &'static Layout,
}

macro_rules! versions {
    ($($key:literal $bytes:literal $layout:ident),* $(,)?) => {
        &[$(Version { key: $key, bytes: $bytes, layout: &tables::$layout }),*]
    };
}

/// All versions that a public header defines, in increasing order.
pub static VERSIONS: &[Version] = versions![
    "00.06" 256 QMD_00_06,
    "01.06" 256 QMD_01_06,
    "01.07" 256 QMD_01_07,
    "02.00" 256 QMD_02_00,
    "02.01" 256 QMD_02_01,
    "02.02" 256 QMD_02_02,
    "02.03" 256 QMD_02_03,
    "02.04" 256 QMD_02_04,
    "03.00" 256 QMD_03_00,
    "04.00" 384 QMD_04_00,
    "04.01" 384 QMD_04_01,
    "05.00" 384 QMD_05_00,
    "05.01" 512 QMD_05_01,
];

impl Version {
    /// The version called `key`.
    pub fn get(key: &str) -> Option<&'static Self> {
        VERSIONS.iter().find(|version| version.key == key)
    }

    /// Major and minor version.
    pub fn number(&self) -> (u64, u64) {
        let (major, minor) = self.key.split_once('.').unwrap_or_default();
        (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
    }

    /// Whether `bytes` say that they are of this version, or, without `minor`, of this major version.
    pub fn is_said(&self, bytes: &[u8], minor: bool) -> bool {
        let number = self.number();
        match said(self, bytes) {
            // Zeros say nothing.
            None | Some((0, 0)) => false,
            Some(said) => said == number || !minor && said.0 == number.0,
        }
    }
}

/// Major and minor version that `bytes`, read as `version`, say they are of.
fn said(version: &Version, bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |name| {
        let field = version.layout.field(name)?;
        record::bits(bytes, field.lsb, field.bits)
    };
    let minor = number("QMD_VERSION").or_else(|| number("QMD_MINOR_VERSION"))?;
    Some((number("QMD_MAJOR_VERSION")?, minor))
}

/// The versions that `bytes` may be of, the likeliest first, and why. One: it is that. Several: the bytes do not tell.
///
/// The length decides, then where each version has its number: byte 72, or byte 58 from 05.00 on. There, 04.00 and 04.01 have a
/// part of an address that may look like a version, so that byte 72 goes first. Some drivers leave the minor version 0.
/// Bytes of a length that no version has are told by the numbers alone.
pub fn detect(bytes: &[u8]) -> Vec<(&'static Version, &'static str)> {
    let of_length: Vec<_> = VERSIONS.iter().filter(|v| v.bytes == bytes.len()).collect();
    let has_length = !of_length.is_empty();
    // What was cut short is told by its number as long as that is there.
    let among = if has_length {
        of_length
    } else {
        VERSIONS.iter().collect()
    };
    if let ([only], true) = (among.as_slice(), has_length) {
        return vec![(only, "the only version of this length")];
    }
    let chosen = |is: &dyn Fn(&Version) -> bool, reason| -> Vec<_> {
        let those = among.iter().filter(|version| is(version));
        those.map(|version| (*version, reason)).collect()
    };
    let exact = chosen(&|v| v.is_said(bytes, true), "the version that it says");
    if !exact.is_empty() {
        return exact;
    }
    let major = chosen(
        &|v| v.is_said(bytes, false),
        "the major version that it says; there is no such minor version",
    );
    if !major.is_empty() {
        return major;
    }
    let reason = match has_length {
        true => "of this length; it says no version that there is",
        false => "no version has this length, and it says none that there is",
    };
    // Nothing longer is offered where no number asks for it.
    let most = bytes.len().max(256);
    chosen(&|v| has_length || v.bytes <= most, reason)
}

/// The descriptor in `bytes`, which begin at `offset` of a file, read as `version`. Of fewer bytes, the fields that are whole.
pub fn record(version: &Version, name: impl Into<String>, bytes: &[u8], offset: u64) -> Record {
    let mut record = version.layout.read(name, bytes, offset);
    explain(&mut record);
    record
}

/// The descriptor in `bytes` that no file has, read as `version`.
pub fn made(version: &Version, name: impl Into<String>, bytes: &[u8]) -> Record {
    let mut record = Record::made(version.layout, name, bytes);
    explain(&mut record);
    record
}

/// Says which address the fields that have parts of one come to, and how much shared memory an SM is asked for.
fn explain(record: &mut Record) {
    for at in 0..record.fields.len() {
        let field = &record.fields[at];
        let Raw::Int(raw) = field.raw else {
            continue;
        };
        let name = field.name.as_str();
        let meaning = if name.ends_with("SM_CONFIG_SHARED_MEM_SIZE") && raw > 0 {
            format!("{} KiB", (raw - 1) * 4)
        } else if field.kind == "address" {
            let upper = match name.contains("LOWER") {
                true => record.number(&name.replace("LOWER", "UPPER")),
                false => 0,
            };
            let is_whole = name.contains("LOWER") || name.ends_with("POINTER");
            let value = (upper << 32 | raw) << shift(name);
            if !is_whole || value == 0 || value == raw {
                continue;
            }
            format!("0x{value:x}")
        } else {
            continue;
        };
        record.fields[at].meaning = Some(meaning);
    }
}

/// By how many bits the field called `name` has its address shifted to the right.
pub fn shift(name: &str) -> u32 {
    let name = name.split('(').next().unwrap_or(name);
    match name.rsplit_once("_SHIFTED") {
        // NVIDIA's headers leave out by how much where it is 8.
        Some((_, digits)) => digits.parse().unwrap_or(8),
        None if name.ends_with("QMD_POINTER") || name.ends_with("QMD0_POINTER") => 8,
        None if name.ends_with("QMD1_POINTER") => 8,
        None => 0,
    }
}

/// What is to be said of a descriptor in `bytes`, which begin at `offset` of what was dropped, read as `version`: a length that is
/// not the version's, another version that it says to be of,
/// and each reserved field or gap that is not zero.
pub fn findings(version: &Version, bytes: &[u8], offset: u64) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if bytes.len() != version.bytes {
        findings.push(
            Diagnostic::error(Kind::Format, "wrong length of a launch descriptor")
                .expected(
                    format_args!("{} bytes of version {}", version.bytes, version.key),
                    format_args!("{} bytes", bytes.len()),
                )
                .at(offset),
        );
    }
    let number = version.number();
    if let Some((major, minor)) = said(version, bytes).filter(|said| *said != number) {
        let text = "the descriptor says to be of another version than it is read as";
        let finding = match (major, minor) {
            (major, 0) if major == number.0 => Diagnostic::note(Kind::UnknownValue, text),
            _ => Diagnostic::warning(Kind::UnknownValue, text),
        };
        findings.push(
            finding
                .expected(version.key, format_args!("{major:02}.{minor:02}"))
                .at(offset),
        );
    }
    // A reserved field may share bits with one that has a meaning: these are that one's.
    let mut rest = bytes.to_vec();
    for field in version.layout.fields() {
        if !matches!(field.kind, record::Kind::Reserved) {
            let _past_end = version.layout.write(&mut rest, &field.name, 0);
        }
    }
    for field in version.layout.read("", &rest, offset).fields {
        let is_zero = match &field.raw {
            Raw::Int(raw) => *raw == 0,
            Raw::Bytes(bytes) => bytes.iter().all(|&byte| byte == 0),
            Raw::None => true,
        };
        if is_zero || field.kind != "reserved" {
            continue;
        }
        let [msb, lsb] = field.bits;
        findings.push(
            Diagnostic::warning(Kind::UnknownValue, "bits without a known meaning are set")
                .expected(0, field.raw_text())
                .at(offset + u64::from(lsb / 8))
                .within(format!("{}, bits {msb}:{lsb}", field.name)),
        );
    }
    findings
}

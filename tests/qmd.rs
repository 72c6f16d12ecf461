//! Launch descriptors: layouts of every version against NVIDIA's headers, encodings byte for byte both ways, how versions are told
//! apart, and what is said of bytes that are not as they should be.

mod common;

use kernelscope::error::Severity;
use kernelscope::nvidia::qmd::{self, VERSIONS, Version};
use kernelscope::record::{Kind, NotWritten, Raw, Record, bits};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn recorded() -> Value {
    serde_json::from_slice(&common::bytes("qmd.json")).expect("JSON")
}

fn version(key: &str) -> &'static Version {
    Version::get(key).unwrap_or_else(|| panic!("no version {key}"))
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).expect("text"), 16);
    digits.map(|pair| byte(pair).expect("hex")).collect()
}

/// The example whose name begins with `name`: its version, and its bytes.
fn example(name: &str) -> (&'static Version, Vec<u8>) {
    let recorded = recorded();
    let mut all = recorded["examples"].as_array().expect("examples").iter();
    let found = all.find(|e| e["name"].as_str().is_some_and(|n| n.starts_with(name)));
    let found = found.unwrap_or_else(|| panic!("no example {name}"));
    let key = found["version"].as_str().expect("a version");
    (version(key), unhex(found["hex"].as_str().expect("hex")))
}

fn set(bytes: &mut [u8], bit: u32) {
    bytes[bit as usize / 8] |= 1 << (bit % 8);
}

/// How many bits of a field are set.
fn count(raw: &Raw) -> u32 {
    match raw {
        Raw::Int(raw) => raw.count_ones(),
        Raw::Bytes(bytes) => bytes.iter().map(|byte| byte.count_ones()).sum(),
        Raw::None => panic!("a field without bits"),
    }
}

/// Numbers that look random, the same each time (xorshift64).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn the_layouts_are_those_of_the_headers() {
    let recorded = recorded();
    let versions = recorded["versions"].as_object().expect("versions");
    assert_eq!(versions.len(), VERSIONS.len());
    for version in VERSIONS {
        let expected = &versions[version.key];
        assert_eq!(expected["bytes"], version.bytes, "{}", version.key);
        assert_eq!(version.layout.bytes as usize, version.bytes);
        let fields = version.layout.fields().iter();
        let (gaps, mut fields): (Vec<_>, Vec<_>) = fields.partition(|f| f.name.starts_with("gap "));
        assert_eq!(expected["fields"], fields.len(), "{}", version.key);
        fields.sort_by(|a, b| (a.lsb, &a.name).cmp(&(b.lsb, &b.name)));
        let lines = fields
            .iter()
            .map(|f| format!("{} {} {}\n", f.name, f.lsb, f.bits));
        let digest = Sha256::digest(lines.collect::<String>());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(expected["sha256"], digest, "{}", version.key);
        let gaps: Vec<_> = gaps.iter().map(|gap| [gap.lsb, gap.bits]).collect();
        assert_eq!(expected["gaps"], serde_json::json!(gaps), "{}", version.key);
    }
}

#[test]
fn every_bit_is_of_one_field_or_gap() {
    for version in VERSIONS {
        let mut claimed = vec![[0, 0]; version.bytes * 8];
        for field in version.layout.fields() {
            let is_alias = usize::from(!field.alternative_of.is_empty());
            (field.lsb..field.lsb + field.bits)
                .for_each(|bit| claimed[bit as usize][is_alias] += 1);
        }
        for (bit, [fields, aliases]) in claimed.into_iter().enumerate() {
            let place = format!("{}, bit {bit}", version.key);
            assert!(fields == 1 || fields == 0 && aliases == 1, "{place}");
            // Bits 381:379 of 03.00 are reserved, the mask in them has two.
            assert_eq!(fields == 0, version.key == "03.00" && bit == 381, "{place}");
        }
        let record = qmd::record(version, "it", &vec![0; version.bytes], 0);
        assert_eq!(record.gaps(), Vec::<[u32; 2]>::new());
    }
}

#[test]
fn a_field_of_ones_reads_back_alone() {
    for version in VERSIONS {
        for field in version.layout.fields() {
            let mut bytes = vec![0; version.bytes];
            (field.lsb..field.lsb + field.bits).for_each(|bit| set(&mut bytes, bit));
            if field.bits <= 64 {
                let mut written = vec![0; version.bytes];
                let ones = u64::MAX >> (64 - field.bits);
                version
                    .layout
                    .write(&mut written, &field.name, ones)
                    .unwrap();
                assert_eq!(written, bytes, "{} {}", version.key, field.name);
            }
            let record = qmd::record(version, "it", &bytes, 0);
            for read in &record.fields {
                let [msb, lsb] = read.bits;
                let end = (msb + 1).min(field.lsb + field.bits);
                let shared = end.saturating_sub(lsb.max(field.lsb));
                let place = format!("{}: {} and {}", version.key, field.name, read.name);
                assert_eq!(count(&read.raw), shared, "{place}");
                let is_alias = read.alternative_of.is_some() || !field.alternative_of.is_empty();
                assert!(
                    shared == 0 || read.name == field.name || is_alias,
                    "{place}"
                );
            }
        }
    }
}

#[test]
fn aliases_are_those_that_share_bits_in_the_headers() {
    // Counted in the headers: 01.07 has two reserved fields above fields of a meaning, 02.03 one with eight elements, 03.00 two,
    // three interrupts that are traps, and the spare word of the occupancy.
    for (key, aliases) in [("01.07", 2), ("02.03", 8), ("03.00", 6)] {
        let fields = version(key).layout.fields().iter();
        assert_eq!(
            fields.filter(|f| !f.alternative_of.is_empty()).count(),
            aliases,
            "{key}"
        );
    }
    for version in VERSIONS {
        if !["01.07", "02.03", "03.00"].contains(&version.key) {
            let mut fields = version.layout.fields().iter();
            assert!(
                fields.all(|f| f.alternative_of.is_empty()),
                "{}",
                version.key
            );
        }
    }
    let spare = version("03.00").layout.field("QMD_SPARE_I").unwrap();
    assert_eq!(spare.alternative_of, "OCCUPANCY_THRESHOLD_WARP");
    let element = version("02.03")
        .layout
        .field("CONSTANT_BUFFER_RESERVED_ADDR(3)");
    assert_eq!(
        element.unwrap().alternative_of,
        "CONSTANT_BUFFER_PREFETCH_POST(3)"
    );
}

#[test]
fn recorded_descriptors_encode_and_decode() {
    let recorded = recorded();
    let examples = recorded["examples"].as_array().expect("examples");
    assert_eq!(examples.len(), 6);
    for example in examples {
        let place = example["name"].as_str().expect("a name");
        let version = version(example["version"].as_str().expect("a version"));
        let expected = unhex(example["hex"].as_str().expect("hex"));
        let mut bytes = vec![0; version.bytes];
        let mut named = Vec::new();
        for field in example["fields"].as_array().expect("fields") {
            let name = field[0].as_str().expect("a name");
            let name = match version.layout.field(name) {
                Some(_) => name.to_string(),
                None => format!("{name}({})", field[1]),
            };
            let value = field[2].as_u64().expect("a value");
            version.layout.write(&mut bytes, &name, value).unwrap();
            named.push((name, value));
        }
        assert_eq!(bytes, expected, "{place}");
        let record = qmd::record(version, place, &expected, 0);
        for field in record.fields.iter().filter(|f| f.alternative_of.is_none()) {
            let given = named.iter().find(|(name, _)| *name == field.name);
            match given {
                Some((_, value)) => {
                    assert_eq!(field.raw, Raw::Int(*value), "{place}: {}", field.name)
                }
                None => assert_eq!(count(&field.raw), 0, "{place}: {}", field.name),
            }
        }
        for (index, word) in example["words"].as_object().expect("words") {
            let bit = 32 * index.parse::<u32>().expect("an index");
            let word = u64::from_str_radix(&word.as_str().expect("a word")[2..], 16).expect("hex");
            assert_eq!(bits(&bytes, bit, 32), Some(word), "{place}: word {index}");
        }
        let candidates = qmd::detect(&expected);
        assert_eq!(candidates.len(), 1, "{place}");
        assert_eq!(candidates[0].0.key, version.key, "{place}");
        let findings = qmd::findings(version, &expected, 0);
        assert!(findings.is_empty(), "{place}: {findings:?}");
    }
}

#[test]
fn what_is_written_is_read() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for version in VERSIONS {
        for _ in 0..20 {
            let mut bytes: Vec<u8> = (0..version.bytes).map(|_| next(&mut state) as u8).collect();
            let record = qmd::record(version, "it", &bytes, 0);
            let mut again = vec![0; version.bytes];
            for field in &record.fields {
                match &field.raw {
                    Raw::Int(raw) => version.layout.write(&mut again, &field.name, *raw).unwrap(),
                    Raw::Bytes(raw) => {
                        let [msb, lsb] = field.bits;
                        let of = |bit: &u32| {
                            raw[((bit - lsb) / 8) as usize] >> ((bit - lsb) % 8) & 1 != 0
                        };
                        (lsb..=msb).filter(of).for_each(|bit| set(&mut again, bit));
                    }
                    Raw::None => panic!("no bits"),
                }
            }
            assert_eq!(again, bytes, "{}", version.key);
            // One field changes its own bits and no others.
            let fields = version.layout.fields();
            let field = &fields[next(&mut state) as usize % fields.len()];
            if field.bits <= 64 {
                let value = next(&mut state) & u64::MAX >> (64 - field.bits);
                version
                    .layout
                    .write(&mut bytes, &field.name, value)
                    .unwrap();
                assert_eq!(bits(&bytes, field.lsb, field.bits), Some(value));
                let changed = |bit: u32| bits(&bytes, bit, 1) != bits(&again, bit, 1);
                let own = field.lsb..field.lsb + field.bits;
                let all = 0..version.bytes as u32 * 8;
                assert!(
                    all.filter(|bit| !own.contains(bit))
                        .all(|bit| !changed(bit))
                );
            }
        }
    }
}

#[test]
fn a_value_that_does_not_fit_is_refused_with_the_largest_that_does() {
    let version = version("03.00");
    let mut bytes = vec![0; version.bytes];
    let mut write = |name: &str, value| version.layout.write(&mut bytes, name, value);
    // 656:648, nine bits
    assert_eq!(write("REGISTER_COUNT_V", 511), Ok(()));
    assert_eq!(
        write("REGISTER_COUNT_V", 512),
        Err(NotWritten::TooLarge(511))
    );
    assert_eq!(
        write("CTA_RASTER_HEIGHT", 0x1_0000),
        Err(NotWritten::TooLarge(0xffff))
    );
    assert_eq!(write("GRID_WIDTH", 1), Err(NotWritten::NoField));
    let short = version.layout.write(&mut [0; 48], "CTA_RASTER_WIDTH", 1);
    assert_eq!(short, Err(NotWritten::PastEnd));
    assert_eq!(bits(&bytes, 648, 9), Some(511));
}

#[test]
fn grid_and_block_of_version_3_are_words_12_and_18() {
    let version = version("03.00");
    let mut bytes = vec![0; version.bytes];
    version
        .layout
        .write(&mut bytes, "CTA_RASTER_WIDTH", 4096)
        .unwrap();
    version
        .layout
        .write(&mut bytes, "CTA_THREAD_DIMENSION0", 256)
        .unwrap();
    assert_eq!(bits(&bytes, 12 * 32, 32), Some(0x0000_1000));
    assert_eq!(bits(&bytes, 18 * 32 + 16, 16), Some(256));
    // The version is the second byte of word 18's lower half, so that nothing of it is in the way.
    assert_eq!(bytes.iter().filter(|&&byte| byte != 0).count(), 2);
}

fn field<'a>(record: &'a Record, name: &str) -> &'a kernelscope::record::Field {
    record
        .field(name)
        .unwrap_or_else(|| panic!("no field {name}"))
}

#[test]
fn fields_say_what_they_mean() {
    let (version, bytes) = example("1 vadd<<<4096,256>>> sm_89 QMD 3.0 [fuller]");
    let record = qmd::record(version, "it", &bytes, 0);
    // qmd.json: program at 127639904264960, which is 0x74167b272300; bank 0 at 0x740000001000.
    let of = |name| field(&record, name).meaning.clone();
    assert_eq!(
        of("PROGRAM_ADDRESS_LOWER").as_deref(),
        Some("0x74167b272300")
    );
    assert_eq!(
        of("PROGRAM_PREFETCH_ADDR_LOWER_SHIFTED").as_deref(),
        Some("0x74167b272300")
    );
    assert_eq!(
        of("CONSTANT_BUFFER_ADDR_LOWER(0)").as_deref(),
        Some("0x740000001000")
    );
    assert_eq!(of("CONSTANT_BUFFER_ADDR_LOWER(1)"), None);
    assert_eq!(
        of("MAX_SM_CONFIG_SHARED_MEM_SIZE").as_deref(),
        Some("100 KiB")
    );
    assert_eq!(of("CWD_MEMBAR_TYPE").as_deref(), Some("L1_SYSMEMBAR"));
    // 24 steps of 16
    assert_eq!(
        field(&record, "CONSTANT_BUFFER_SIZE_SHIFTED4(0)").value_text(),
        "384"
    );
    assert!(record.is_stored && !qmd::made(version, "it", &bytes).is_stored);

    let (version, bytes) = example("2 tiled matmul");
    let record = qmd::record(version, "it", &bytes, 0);
    // qmd.json: the chained descriptor is at 77309411584, the field has that in steps of 256.
    let chained = field(&record, "DEPENDENT_QMD0_POINTER");
    assert_eq!(chained.meaning, Some(format!("0x{:x}", 77_309_411_584_u64)));
    assert_eq!(
        field(&record, "QMD_TYPE").meaning.as_deref(),
        Some("GRID_CTA (a grid of blocks)")
    );
}

fn keys(bytes: &[u8]) -> Vec<&'static str> {
    qmd::detect(bytes)
        .iter()
        .map(|(version, _)| version.key)
        .collect()
}

/// `size` zero bytes with `byte` at `at`.
fn with(size: usize, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = vec![0; size];
    bytes[at] = byte;
    bytes
}

#[test]
fn versions_are_told_by_length_and_number() {
    assert_eq!(keys(&[0; 512]), ["05.01"]);
    for version in VERSIONS.iter().filter(|version| version.bytes < 512) {
        let at = if version.key < "05" { 72 } else { 58 };
        let (major, minor) = version.number();
        let byte = (major << 4 | minor) as u8;
        assert_eq!(keys(&with(version.bytes, at, byte)), [version.key]);
    }
    // What tinygrad writes: the minor version is left out. There is a version 2.0, but no 1.0.
    assert_eq!(keys(&with(256, 72, 0x10)), ["01.06", "01.07"]);
    assert_eq!(
        keys(&with(256, 72, 0x25)),
        ["02.00", "02.01", "02.02", "02.03", "02.04"]
    );
    assert_eq!(keys(&with(256, 72, 0x20)), ["02.00"]);
    assert_eq!(keys(&with(384, 72, 0x42)), ["04.00", "04.01"]);
    // In 4.x byte 58 is the third byte of an address: it may look like version 5.0.
    let mut both = with(384, 72, 0x40);
    both[58] = 0x50;
    assert_eq!(keys(&both)[0], "04.00");
    // Nothing said: all of the length.
    assert_eq!(keys(&[0; 256]).len(), 9);
    assert_eq!(keys(&[0; 384]), ["04.00", "04.01", "05.00"]);
    // What was cut short is told by its number, if that is there; if not, nothing longer is offered than there can be.
    assert_eq!(keys(&with(383, 72, 0x40)), ["04.00"]);
    assert_eq!(keys(&with(300, 58, 0x50)), ["05.00"]);
    assert_eq!(keys(&with(255, 72, 0x30)), ["03.00"]);
    assert_eq!(keys(&[0; 100]).len(), 9);
    // A version of another length is not the one.
    assert_eq!(keys(&with(256, 72, 0x40)).len(), 9);
}

#[test]
fn bytes_of_a_wrong_length_are_read_as_far_as_they_go() {
    let (_, mut bytes) = example("1 vadd");
    bytes.extend([0xff; 44]);
    assert_eq!(keys(&bytes), ["03.00"]);
    let findings = qmd::findings(version("03.00"), &bytes, 16);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].severity, Severity::Error);
    assert_eq!(findings[0].found.as_deref(), Some("300 bytes"));
    bytes.truncate(100);
    assert_eq!(keys(&bytes), ["03.00"]);
    let record = qmd::record(version("03.00"), "it", &bytes, 0);
    assert_eq!(record.number("CTA_RASTER_WIDTH"), 4096);
    assert!(record.field("RELEASE0_ADDRESS_LOWER").is_some());
    assert!(record.field("RELEASE0_PAYLOAD_LOWER").is_none());
    for size in [
        0, 1, 58, 59, 72, 73, 100, 255, 257, 300, 383, 385, 511, 513, 4096,
    ] {
        for byte in [0, 0xff, 0x30] {
            let bytes = vec![byte; size];
            let candidates = qmd::detect(&bytes);
            assert!(!candidates.is_empty(), "{size}");
            for (version, _) in candidates {
                qmd::record(version, "it", &bytes, u64::MAX);
                assert!(!qmd::findings(version, &bytes, u64::MAX - 512).is_empty());
            }
        }
    }
}

#[test]
fn bits_without_a_meaning_are_findings() {
    let (version, mut bytes) = example("1 vadd");
    // 03.00: bits 447:432 are of no field, the header has none between CTA_RASTER_HEIGHT and CTA_RASTER_DEPTH.
    bytes[54] = 0x80;
    let findings = qmd::findings(version, &bytes, 0x1000);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].offset, Some(0x1000 + 54));
    assert_eq!(
        findings[0].context.as_deref(),
        Some("gap 432, bits 447:432")
    );
    assert_eq!(findings[0].found.as_deref(), Some("0x80"));
    // A field of a meaning that shares its bits with a spare one is no finding.
    bytes[54] = 0;
    version
        .layout
        .write(&mut bytes, "OCCUPANCY_MAX_WARP", 48)
        .unwrap();
    assert!(qmd::findings(version, &bytes, 0).is_empty());
    // Read as another version: the version is another, and what that one has reserved is set.
    let findings = qmd::findings(self::version("01.07"), &bytes, 0);
    assert!(
        findings[0].message.contains("another version"),
        "{findings:?}"
    );
    assert_eq!(findings[0].found.as_deref(), Some("03.00"));
    for version in VERSIONS {
        let fields = version.layout.fields().iter();
        let reserved = fields.filter(|f| matches!(f.kind, Kind::Reserved));
        // Of those that share bits only the one with a bit of its own is left, QMD_RESERVED11C of 03.00.
        let open = reserved.filter(|f| f.alternative_of.is_empty() || f.name == "QMD_RESERVED11C");
        let findings = qmd::findings(version, &vec![0xff; version.bytes], 0);
        assert_eq!(findings.len(), open.count() + 1, "{}", version.key);
    }
}

#[test]
fn the_documentation_has_the_places_of_both_versions() {
    let path = common::folder().join("../../docs/qmd.md");
    let text = std::fs::read_to_string(path).expect("docs/qmd.md");
    let mut rows = 0;
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, _, old, old_bits, new, new_bits, _] = cells[..] else {
            continue;
        };
        if !old_bits.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        for (key, name, place) in [("01.07", old, old_bits), ("03.00", new, new_bits)] {
            let field = version(key).layout.field(name);
            let field = field.unwrap_or_else(|| panic!("{key}: no {name}"));
            let bits = format!("{}:{}", field.lsb + field.bits - 1, field.lsb);
            assert_eq!(place, bits, "{key}: {name}");
        }
        rows += 1;
    }
    assert_eq!(rows, 21);
}

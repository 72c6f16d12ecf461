//! Containers that are wrong on purpose: each number of each header, entries that share bytes, containers in themselves, bombs, streams
//! that are cut off, and names that lead elsewhere. `make test-all` tries all numbers, other runs a sample.

mod common;

use std::time::{Duration, Instant};

use kernelscope::container::Format;
use kernelscope::error::{Diagnostic, Diagnostics, Kind, Severity};
use kernelscope::extract::Extract;
use kernelscope::record::{Raw, Record};
use kernelscope::rows::Progress;
use kernelscope::span::Span;
use kernelscope::unpack::{Compression, Expected, beginning, unpack};
use kernelscope::{Document, Source};

/// Bytes that members of a file may come to when all are opened, and how long that may take: more than any fixture, less than a bomb.
const BYTES: u64 = 64 << 20;
const TIME: Duration = Duration::from_secs(20);

fn open(bytes: Vec<u8>) -> Document {
    Document::open(Source::memory(bytes))
}

/// What opening a file and each of its members tells: what is in it by path and bytes, and what is wrong.
fn told(what: &str, bytes: Vec<u8>) -> (Vec<(String, u64)>, Vec<Diagnostic>) {
    let size = bytes.len() as u64;
    let began = Instant::now();
    let document = open(bytes);
    let mut findings: Vec<_> = document.findings().iter().cloned().collect();
    let mut members = Vec::new();
    let mut all = 0;
    let covered: u64 = document.leaves().iter().map(|leaf| leaf.span.size).sum();
    assert_eq!(covered, size, "{what}: the map");
    for index in 0..document.contents().members.len() as u32 {
        match document.open_member(index) {
            Ok(member) => {
                all += member.source().size();
                members.push((document.contents().path(index), member.source().size()));
                findings.extend(member.findings().iter().cloned());
            }
            Err(error) => findings.push(error.into_diagnostic()),
        }
        assert!(all < BYTES, "{what}: {all} bytes");
    }
    assert!(began.elapsed() < TIME, "{what}: {:?}", began.elapsed());
    (members, findings)
}

/// The structures of containers in a file.
fn structures(document: &Document) -> Vec<Record> {
    let leaves = document.leaves().iter();
    let contained = leaves.filter(|leaf| matches!(leaf.part, kernelscope::elf::Part::Contained(_)));
    let mut records: Vec<Record> = Vec::new();
    for leaf in contained {
        for record in document.locate(leaf.span.offset).records {
            let is_new = records.iter().all(|known| known.span != record.span);
            if is_new && record.span.offset == leaf.span.offset {
                records.push(record);
            }
        }
    }
    records
}

/// `value` in the bits of a field; numbers that are text as text.
fn with(bytes: &[u8], record: &Record, bits: [u32; 2], value: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let start = record.span.offset as usize + bits[1] as usize / 8;
    let end = record.span.offset as usize + bits[0] as usize / 8 + 1;
    for (byte, place) in bytes[start..end].iter_mut().zip((0..).step_by(8)) {
        *byte = value.checked_shr(place).unwrap_or(0) as u8;
    }
    bytes
}

#[test]
fn every_number_of_a_header_may_lie() {
    let mut count = 0;
    for path in common::all(common::CONTAINERS) {
        let bytes = common::bytes(&path);
        let document = open(bytes.clone());
        let known = told(&path, bytes.clone());
        let size = bytes.len() as u64;
        for record in structures(&document) {
            for field in &record.fields {
                let is_number = matches!(field.kind, "count" | "offset" | "size" | "unsigned");
                if !is_number || field.bits[1] % 8 != 0 || field.bits[0] % 8 != 7 {
                    continue;
                }
                let width = field.bits[0] - field.bits[1] + 1;
                let most = u64::MAX >> (64 - width.min(64));
                for value in [0, 1, size - 1, size, size + 1, most / 2 + 1, most] {
                    let value = value & most;
                    let what = format!("{path}: {}, {} = {value}", record.name, field.name);
                    let wrong = with(&bytes, &record, field.bits, value);
                    if wrong == bytes {
                        continue;
                    }
                    count += 1;
                    if count % 4 != 0 && !common::whole() {
                        continue;
                    }
                    let (members, findings) = told(&what, wrong);
                    let is_said = findings.iter().any(|finding| finding.offset.is_some());
                    // What is unsaid is right in itself: a count or a size that is less, so that there is less.
                    let is_known =
                        |(path, _): &(String, u64)| known.0.iter().any(|(known, _)| known == path);
                    let is_less = members.len() < known.0.len() && members.iter().all(is_known);
                    assert!(
                        is_said || is_less || members == known.0,
                        "{what}: {members:?}"
                    );
                }
            }
        }
    }
    assert!(count > 5000, "{count}");
}

/// A gzip member by RFC 1952: no name, the checksum and the size of what it holds.
fn gzip(deflated: &[u8], checksum: u32, size: u32) -> Vec<u8> {
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    [
        &header[..],
        deflated,
        &checksum.to_le_bytes(),
        &size.to_le_bytes(),
    ]
    .concat()
}

/// A stored zip file of these names and bytes (APPNOTE 4.3), the local header of each at the offset given, or where it is.
fn zip(entries: &[(&[u8], &[u8], Option<u32>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, data, offset) in entries {
        let at = offset.unwrap_or(bytes.len() as u32);
        let size = (data.len() as u32).to_le_bytes();
        let names = [&(name.len() as u16).to_le_bytes()[..], &[0, 0]].concat();
        let sizes = [&size[..], &size].concat();
        let local = [b"PK\x03\x04", &[0; 14][..], &sizes, &names, name, data].concat();
        bytes.extend(local);
        let central = [
            b"PK\x01\x02",
            &[0; 16][..],
            &sizes,
            &names,
            &[0; 10],
            &at.to_le_bytes(),
            name,
        ];
        directory.extend(central.concat());
    }
    let count = (entries.len() as u16).to_le_bytes();
    let start = (bytes.len() as u32).to_le_bytes();
    let size = (directory.len() as u32).to_le_bytes();
    let end = [
        b"PK\x05\x06",
        &[0; 4][..],
        &count,
        &count,
        &size,
        &start,
        &[0; 2],
    ]
    .concat();
    [bytes, directory, end].concat()
}

/// A bundle (ClangOffloadBundler documentation) whose entries lie where it is said.
fn bundle(entries: &[(&str, u64, u64)], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((entries.len() as u64).to_le_bytes());
    for (id, offset, size) in entries {
        for number in [*offset, *size, id.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(id.as_bytes());
    }
    bytes.extend(data);
    bytes
}

#[test]
fn entries_that_share_bytes_end() {
    // Two names for the same bytes of a zip file: both are there.
    let document = open(zip(&[(b"a", b"one", None), (b"b", b"two", Some(0))]));
    assert_eq!(document.contents().members.len(), 2);
    assert_eq!(
        document.contents().members[0].span,
        document.contents().members[1].span
    );
    // A bundle whose entries are the bundle itself, and one another.
    let id = "hip-amdgcn-amd-amdhsa--gfx906";
    let inner = bundle(&[(id, 0, 4096), (id, 100, 4000), (id, 0, 4096)], &[0; 4096]);
    let (members, findings) = told("bundle", inner);
    assert!(members.len() < 4096, "{}", members.len());
    assert!(
        findings
            .iter()
            .any(|finding| finding.message.contains("share bytes"))
    );
    // A fatbin whose entry is as long as the fatbin around it.
    let fatbin = common::bytes("nvidia/fatbin/vadd.3arch+ptx.none.13.5.fatbin");
    let mut wrong = fatbin.clone();
    let whole = wrong.len() as u64;
    wrong[0x18..0x20].copy_from_slice(&whole.to_le_bytes());
    let (_, findings) = told("fatbin", wrong);
    assert!(findings.iter().any(|finding| finding.offset == Some(0x18)));
}

#[test]
fn containers_in_themselves_end() {
    // A zip file that has itself as a member: an entry whose local header and bytes are the file's.
    let mut bytes = zip(&[(b"a", b"", None), (b"b.zip", &[0; 64], None)]);
    let size = bytes.len() as u32;
    let at = bytes
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .expect("a directory");
    for field in [20, 24] {
        bytes[at + field..at + field + 4].copy_from_slice(&(size - 31).to_le_bytes());
    }
    let (members, _) = told("zip", bytes);
    assert!(members.len() < 4096, "{}", members.len());
    // A bundle that is its own only entry.
    let id = "hip-amdgcn-amd-amdhsa--gfx906";
    let bytes = bundle(&[(id, 0, 32 + 24 + id.len() as u64)], b"");
    let (members, findings) = told("bundle", bytes);
    assert!(members.len() < 16, "{}", members.len());
    assert!(!findings.is_empty());
}

/// What opening a path step by step comes to, how many steps it took, and that it said how far it had come.
fn stepwise(document: &Document, path: &str, budget: u64) -> (Vec<u8>, u64) {
    let mut opening = document.begin_path(path).expect(path);
    let (mut steps, mut before) = (0, 0);
    loop {
        steps += 1;
        if let Some(member) = opening.step(budget).expect(path) {
            let source = member.source();
            return (source.read_up_to(0, source.size()).expect(path), steps);
        }
        let Progress { done, total, .. } = opening.progress();
        assert!(before <= done && done <= total, "{path}: {done} of {total}");
        before = done;
    }
}

#[test]
fn members_open_in_steps() {
    for path in [
        "amdgpu/con/three.ccob-v1-zlib.hipfb",
        "amdgpu/con/three.ccob-v3-zstd.hipfb",
        "nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin",
        "container/kinds.gz",
        "container/package.whl",
        "container/several.gz",
    ] {
        let document = common::open(path);
        for index in 0..document.contents().members.len() as u32 {
            let path = document.contents().path(index);
            let Ok(whole) = document.open_path(&path) else {
                continue;
            };
            let whole = whole.source().read_up_to(0, u64::MAX >> 1).expect("bytes");
            for budget in [1000, u64::MAX] {
                assert!(stepwise(&document, &path, budget).0 == whole, "{path}");
            }
        }
    }
    // Bytes that do not become fewer, of which several pieces are read: a multiplicative generator (Lehmer's, modulo 2^31 - 1).
    let mut seed = 1_u64;
    let noise: Vec<u8> = (0..5 << 20)
        .map(|_| {
            seed = seed * 48271 % 0x7fff_ffff;
            seed as u8
        })
        .collect();
    let sum = kernelscope::unpack::crc32(0, &noise);
    let deflated = miniz_oxide::deflate::compress_to_vec(&noise, 1);
    assert!(deflated.len() > 5 << 20);
    let document = open(gzip(&deflated, sum, 5 << 20));
    let (bytes, steps) = stepwise(&document, "0", 1 << 20);
    assert!(bytes == noise);
    // 5 MiB are read and 5 MiB made, as much of each at a time.
    assert!((5..=12).contains(&steps), "{steps}");
    // 100 MiB of zeros of a few: 16 MiB at a time, whatever they are made of.
    let deflated = miniz_oxide::deflate::compress_to_vec(&vec![0; 100 << 20], 6);
    let document = open(gzip(&deflated, 0, 100 << 20));
    let (bytes, steps) = stepwise(&document, "0", 16 << 20);
    assert_eq!(bytes.len(), 100 << 20);
    assert!((7..=8).contains(&steps), "{steps}");
}

#[test]
fn a_survey_unpacks_in_steps() {
    // A zip file, packed, whose only member is stored: 32 MiB, of which each step unpacks one.
    let inner = zip(&[(b"zeros", &vec![0; 32 << 20], None)]);
    let size = inner.len() as u64;
    let deflated = miniz_oxide::deflate::compress_to_vec(&inner, 6);
    let mut document = open(gzip(
        &deflated,
        kernelscope::unpack::crc32(0, &inner),
        size as u32,
    ));
    let (mut steps, mut before) = (0, 0);
    loop {
        let progress = document.survey(1 << 20);
        steps += 1;
        assert!(progress.bytes <= progress.total_bytes);
        assert!(progress.bytes >= before);
        // The bytes that are packed are not as even as those that come of them. That nothing is in it to be opened, which would be the
        // other half, is known with the last of them.
        let is_done = progress.bytes == progress.total_bytes;
        assert!(is_done || progress.bytes - before < 8 << 20);
        before = progress.bytes;
        if progress.finished {
            break;
        }
    }
    assert!(steps >= 32, "{steps}");
    assert_eq!(before, size);
    assert_eq!(document.findings().iter().count(), 0);
}

#[test]
fn bombs_end() {
    // Deflate at its densest: matches of 258 bytes are two bits each, which is 1032 times as long. 100 MiB are what they are, whatever is
    // declared, and that it is something else is said.
    let deflated = miniz_oxide::deflate::compress_to_vec(&vec![0; 100 << 20], 9);
    assert!(deflated.len() < (100 << 20) / 1000);
    for declared in [1000, u32::MAX] {
        let document = open(gzip(&deflated, 0, declared));
        let member = document.open_member(0).expect("zeros");
        assert_eq!(member.source().size(), 100 << 20);
        assert!(member.findings().has_errors(), "{declared}");
    }
    // A block of zstd that repeats one byte (RFC 8878, 3.1.1.2): 4 bytes for 128 KiB, 20,000 times; nothing declares how many.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3];
    for block in 0..20_000_u32 {
        let header = u32::from(block == 19_999) | 1 << 1 | (1 << 17) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(7);
    }
    assert!(open(frame).open_member(0).is_err());
    // LZ4's longest match is a byte for 255: more is refused before anything is unpacked.
    let mut fatbin = common::bytes("nvidia/fatbin/vadd.3arch+ptx.speed.13.5.fatbin");
    fatbin[0x48..0x50].copy_from_slice(&(1_u64 << 29).to_le_bytes());
    let document = open(fatbin);
    assert!(document.findings().has_errors());
    assert!(document.open_member(0).is_err());
    // Zip files in zip files, ten of the same in each: members are looked into so deep, and no deeper.
    let mut nested = b"end".to_vec();
    for _ in 0..8 {
        let names: Vec<Vec<u8>> = (0..4).map(|i| vec![b'a' + i]).collect();
        let entries: Vec<_> = names
            .iter()
            .map(|name| (&name[..], &nested[..], None))
            .collect();
        nested = zip(&entries);
    }
    let began = Instant::now();
    let document = open(nested);
    assert!(document.contents().members.len() < 1 << 16);
    assert!(began.elapsed() < TIME);
}

#[test]
fn streams_that_are_cut_off_anywhere_are_refused() {
    for path in [
        "nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin",
        "nvidia/fatbin/vadd.3arch+ptx.speed.13.5.fatbin",
        "amdgpu/con/three.ccob-v1-zlib.hipfb",
        "amdgpu/con/three.ccob-v3-zstd.hipfb",
        "container/kinds.gz",
        "container/package.whl",
    ] {
        let document = common::open(path);
        for (index, member) in (0..).zip(&document.contents().members) {
            if member.compression == Compression::None
                || member.base.is_some()
                || member.span.size < 16
            {
                continue;
            }
            let stored = document.source().read(member.span).expect("bytes");
            let size = member.unpacked.expect("a size");
            let whole = unpack(member.compression, &stored, Expected::Declared(size));
            // NVVM that is obfuscated unpacks to nothing.
            let Ok(whole) = whole else {
                assert_eq!(member.format, Format::Nvvm, "{path} {index}");
                continue;
            };
            for part in 0..16 {
                let cut = &stored[..stored.len() * part / 16];
                let unpacked = unpack(member.compression, cut, Expected::Declared(size));
                assert!(unpacked.is_err(), "{path} {index}: {part}/16");
                let most = unpack(member.compression, cut, Expected::Undeclared);
                assert!(most.unwrap_or_default().len() <= whole.len(), "{path}");
                beginning(member.compression, cut);
            }
        }
    }
}

/// A frame of zstd that declares `blocks` times 128 KiB, each a block that repeats one byte (RFC 8878, 3.1.1): four bytes each, behind
/// magic, descriptor (8 bytes of size), a window of 1 MiB, and the size.
fn repeated(blocks: u32) -> Vec<u8> {
    let size = u64::from(blocks) << 17;
    let mut frame = [
        &[0x28, 0xb5, 0x2f, 0xfd, 0xc0, 10 << 3][..],
        &size.to_le_bytes(),
    ]
    .concat();
    for block in 0..blocks {
        let header = u32::from(block == blocks - 1) | 1 << 1 | (1 << 17) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(7);
    }
    frame
}

fn messages(document: &Document) -> Vec<&str> {
    let findings = document.findings().iter();
    findings.map(|finding| &*finding.message).collect()
}

#[test]
fn what_is_too_large_to_be_opened_is_extracted_piece_by_piece() {
    // 8200 blocks of 2^17 bytes are more than 2^30.
    let size = 8200_u64 << 17;
    assert!(size > 1 << 30);
    let document = open(repeated(8200));
    let said = messages(&document);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].contains("1074790400 bytes: what has more than 1 GiB is not opened"));
    assert!(said[1].contains("as decompression bombs do"));
    let mut extracted = document.extract("0", "large").expect("a member");
    let refusal = document.open_path("0").err().expect("no document");
    assert!(refusal.to_string().contains("it is not opened"));
    let refusal = extracted.opened.err().expect("no document");
    assert!(
        refusal
            .to_string()
            .contains("can be extracted to a folder (member 0) at 0x0")
    );
    let mut made = 0;
    let large = extracted.large.take().expect("its bytes");
    let written = large.hand_out(|bytes| {
        // A piece, the block that it ends in, and the window behind it.
        assert!(bytes.len() <= 4 << 20, "{}", bytes.len());
        assert!(bytes.iter().all(|&byte| byte == 7));
        made += bytes.len() as u64;
        Ok::<(), kernelscope::error::Error>(())
    });
    let (written, finding) = written.expect("all of it");
    assert_eq!((written, made, finding), (size, size, None));
    // One block less than it declares.
    let mut cut = repeated(8200);
    let end = cut.len() - 4;
    cut.truncate(end);
    cut[end - 4] |= 1;
    let large = open(cut).extract("0", "large").expect("a member").large;
    let cut = large
        .expect("its bytes")
        .hand_out(|_| Ok::<(), kernelscope::error::Error>(()));
    let why = cut.expect_err("a refusal").to_string();
    assert!(why.contains("malformed"), "{why}");
}

/// A frame of one stored block, with its checksum: RFC 8878, 3.1.1. The size takes 4 bytes, the frame is a single segment.
fn frame(bytes: &[u8], checksum: u32) -> Vec<u8> {
    let block = 1 | (bytes.len() as u32) << 3;
    [
        &[0x28, 0xb5, 0x2f, 0xfd, 0xa4][..],
        &(bytes.len() as u32).to_le_bytes(),
        &block.to_le_bytes()[..3],
        bytes,
        &checksum.to_le_bytes(),
    ]
    .concat()
}

/// The low halves of XXH64("abc") = 0x44bc2cf5ad770999 and XXH64("") = 0xef46db3751d8e999, seed 0: xxHash's own test values, which
/// `zstd --check` writes as well.
const ABC: u32 = 0xad77_0999;
const EMPTY: u32 = 0x51d8_e999;

/// What is wrong with how a member was packed, whatever its bytes are.
fn packing(member: &Document) -> Vec<(Severity, &str)> {
    let findings = member.findings().iter();
    let is_packing = |finding: &&Diagnostic| {
        let context = finding.context.as_deref();
        context.is_some_and(|context| context.starts_with("member "))
    };
    let findings = findings.filter(is_packing);
    findings
        .map(|finding| (finding.severity, &*finding.message))
        .collect()
}

#[test]
fn checksums_of_zstd_frames_are_held_against_what_they_unpack_to() {
    for (checksum, is_right) in [(ABC, true), (ABC ^ 1, false)] {
        let document = open(frame(b"abc", checksum));
        let member = document.open_member(0).expect("three bytes");
        assert_eq!(member.source().read_up_to(0, 9).expect("bytes"), b"abc");
        let said = packing(&member);
        assert_eq!(said.is_empty(), is_right, "{said:?}");
        let is_said = |(severity, why): (Severity, &str)| {
            severity == Severity::Error && why.contains("checksum that its frame gives")
        };
        assert!(said.into_iter().all(is_said));
    }
    // Of the second frame, too.
    let two = [frame(b"abc", ABC), frame(b"abc", 0)].concat();
    assert!(
        open(two)
            .open_member(0)
            .expect("six bytes")
            .findings()
            .has_errors()
    );
}

#[test]
fn frames_of_zstd_are_counted_together() {
    let fatbin = common::bytes("nvidia/fatbin/vadd.3arch+ptx.speed.13.5.fatbin");
    let (half, rest) = fatbin.split_at(fatbin.len() / 2);
    // 3.1.2: a frame that decoders skip.
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"12345"].concat();
    // No checksum that is right is known of these: bit 2 of the descriptor says that there is one.
    let plain = |bytes: &[u8]| {
        let mut frame = frame(bytes, 0);
        frame[4] &= !4;
        frame.truncate(frame.len() - 4);
        frame
    };
    let files = [
        ("2 frames", [plain(half), plain(rest)].concat()),
        (
            "3 frames",
            [frame(b"", EMPTY), plain(half), plain(rest)].concat(),
        ),
        (
            "",
            [skipped.clone(), skipped.clone(), plain(&fatbin)].concat(),
        ),
        (
            "2 frames",
            [plain(half), skipped.clone(), plain(rest), skipped].concat(),
        ),
    ];
    for (note, bytes) in files {
        let document = open(bytes);
        assert_eq!(document.format(), Format::Zstd);
        let [member] = &*document.contents().members else {
            panic!("one member");
        };
        assert_eq!(member.unpacked, Some(fatbin.len() as u64), "{note}");
        assert_eq!(&*member.note, note);
        assert_eq!(member.format, Format::Fatbin);
        let opened = document.open_member(0).expect("a fatbin");
        assert!(opened.source().read_up_to(0, 1 << 20).expect("bytes") == fatbin);
        assert_eq!(opened.findings().iter().count(), 0);
    }
    // Behind zeros there is another file, as compressed images of several compilations are aligned in a section; zeros alone are none.
    let mut aligned = plain(&fatbin);
    aligned.resize(aligned.len().next_multiple_of(16) + 16, 0);
    let second = aligned.len() as u64;
    aligned.extend(plain(rest));
    let end = aligned.len() as u64;
    aligned.extend([0; 40]);
    let document = open(aligned);
    let spans: Vec<_> = document.contents().members.iter().map(|m| m.span).collect();
    let first = plain(&fatbin).len() as u64;
    assert_eq!(
        spans,
        [Span::new(0, first), Span::new(second, end + 40 - second)]
    );
    let one = document.open_path("0").expect("a fatbin");
    assert!(one.source().read_up_to(0, 1 << 20).expect("bytes") == fatbin);
    let two = document.open_path("1").expect("half of one");
    assert!(two.source().read_up_to(0, 1 << 20).expect("bytes") == rest);
    assert_eq!(packing(&one), []);
    assert_eq!(packing(&two).len(), 1);
    // Each byte of the headers is told: descriptor and size of a frame, and what is skipped.
    let document = open([frame(b"abc", ABC), vec![0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]].concat());
    let record = &document.locate(5).records[0];
    assert_eq!(record.name, "zstd frame header");
    assert_eq!(record.span.size, 9);
    let number = |name: &str| {
        let field = record.fields.iter().find(|field| field.name == name);
        field.map(|field| field.raw.clone())
    };
    assert_eq!(number("Frame_Content_Size"), Some(Raw::Int(3)));
    assert_eq!(number("Content_Checksum_Flag"), Some(Raw::Int(1)));
    let record = &document.locate(9 + 3 + 3 + 4).records[0];
    assert_eq!(record.name, "zstd skippable frame");
    // Cut off within its block.
    let cut = frame(b"abc", ABC);
    for size in [6, 9, 11, 14, 17] {
        let document = open(cut[..size].to_vec());
        assert!(document.findings().has_errors(), "{size}");
        let opened = document.open_member(0);
        assert!(opened.is_err(), "{size}");
    }
}

#[test]
fn much_that_nothing_declares_is_extracted_piece_by_piece() {
    // Frames of 4200 blocks of 2^17 bytes, which do not say so: 8400 of them are more than 2^30.
    let mut part = repeated(4200);
    part[4] = 0;
    part.drain(6..14);
    // And parts of a gzip file of 520 MiB of zeros.
    let zeros = vec![0; 520 << 20];
    let deflated = miniz_oxide::deflate::compress_to_vec(&zeros, 6);
    let sum = kernelscope::unpack::crc32(0, &zeros);
    let gz = gzip(&deflated, sum, 520 << 20);
    drop(zeros);
    for (bytes, size, is_all) in [
        ([&part[..], &part].concat(), 8400 << 17, true),
        ([&gz[..], &gz].concat(), 1040 << 20, false),
    ] {
        let mut document = open(bytes);
        // What says so is a limit, and no mistake of the file.
        while !document.survey(1 << 26).finished {}
        let refusal = document.open_member(0).err().expect("no document");
        assert!(refusal.to_string().contains("can be extracted to a folder"));
        assert_eq!(refusal.diagnostic().kind, Kind::Limit);
        let extracted = match is_all {
            true => Extract::all(&document, "large").next(&document),
            false => document.extract("0", "large").ok(),
        };
        let large = extracted.expect("a member").large;
        let mut made = 0;
        let written = large.expect("its bytes").hand_out(|bytes| {
            assert!(bytes.len() <= 4 << 20, "{}", bytes.len());
            made += bytes.len() as u64;
            Ok::<(), kernelscope::error::Error>(())
        });
        let (written, finding) = written.expect("all of it");
        assert_eq!((written, made, finding), (size, size, None));
    }
}

#[test]
fn what_a_gzip_file_is_filled_up_with_is_a_note() {
    let deflated = miniz_oxide::deflate::compress_to_vec(&noise(5000), 6);
    let sum = kernelscope::unpack::crc32(0, &noise(5000));
    let file = gzip(&deflated, sum, 5000);
    let said = |behind: &[u8]| {
        let document = open([&file[..], behind].concat());
        // Zeros are the trailer of nothing, and so no size.
        let declared = document.contents().members[0].unpacked;
        let opened = document.open_member(0).expect("noise");
        assert_eq!(opened.source().size(), 5000);
        let said = packing(&opened).into_iter();
        (
            declared,
            said.map(|(severity, _)| severity).collect::<Vec<_>>(),
        )
    };
    assert_eq!(said(&[]), (Some(5000), vec![]));
    assert_eq!(said(&[0; 512]), (None, vec![Severity::Note]));
    assert_eq!(said(&vec![0; 3 << 20]), (None, vec![Severity::Note]));
    let last = [&[0; 9000][..], b"x"].concat();
    assert_eq!(said(&last).1, [Severity::Warning]);
}

#[test]
fn members_that_share_bytes_are_named() {
    // Every entry of the directory leads to the same 3 bytes: 14 share them with the first one.
    let document = open(shared(0, b"abc", 3, 15));
    let said = messages(&document);
    assert_eq!(said.len(), 11, "{said:?}");
    assert!(said[..10].iter().all(|said| said.ends_with("share bytes")));
    assert!(said[10].contains("4 more share bytes"), "{}", said[10]);
    assert!(document.findings().has_errors());
    assert_eq!(messages(&open(shared(0, b"abc", 3, 1))), [""; 0]);
}

#[test]
fn headers_of_a_zip_file_are_bytes_of_a_member_too() {
    // Two members of three bytes: a local header of 30 bytes and a name of one, then the bytes.
    let bytes = zip(&[(b"a", b"abc", None), (b"b", b"def", None)]);
    assert_eq!(messages(&open(bytes.clone())), [""; 0]);
    let directory = 2 * (30 + 1 + 3);
    let said = |at: usize, size: u32| {
        let mut wrong = bytes.clone();
        // Both sizes of an entry of the directory, which takes 46 bytes and the name: APPNOTE, 4.3.12.
        wrong[at + 20..at + 24].copy_from_slice(&size.to_le_bytes());
        wrong[at + 24..at + 28].copy_from_slice(&size.to_le_bytes());
        let document = open(wrong);
        let said = messages(&document).into_iter().map(String::from);
        said.collect::<Vec<_>>()
    };
    assert_eq!(said(directory, 3), [""; 0]);
    assert_eq!(said(directory, 4), ["a and b share bytes"]);
    assert_eq!(said(directory + 47, 4), ["b and the directory share bytes"]);
}

#[test]
fn stored_members_are_held_against_their_checksum_where_they_are_extracted() {
    for (sum, is_right) in [(kernelscope::unpack::crc32(0, b"abc"), true), (1, false)] {
        let mut bytes = zip(&[(b"a", b"abc", None)]);
        let directory = 30 + 1 + 3;
        bytes[directory + 16..directory + 20].copy_from_slice(&sum.to_le_bytes());
        let document = open(bytes);
        let one = document.extract("a", "zip").expect("three bytes");
        let all = Extract::all(&document, "zip").next(&document);
        for extracted in [one, all.expect("a member")] {
            assert_eq!(extracted.findings.is_empty(), is_right);
            let said = extracted.findings.first();
            assert!(said.is_none_or(|said| said.message.contains("CRC-32")
                && said.severity == Severity::Error
                && said.offset == Some(31)));
            assert!(extracted.opened.is_ok());
        }
    }
}

#[test]
fn bytes_behind_a_packed_member_are_told() {
    // Method 8: deflate ends before the bytes that the directory gives it do. The CRC-32 is none of these, which is the graver finding.
    let deflated = miniz_oxide::deflate::compress_to_vec(b"abc", 6);
    let said = |packed: &[u8]| {
        let mut bytes = shared(8, packed, 3, 1);
        let directory = 30 + 1 + packed.len();
        let sum = kernelscope::unpack::crc32(0, b"abc").to_le_bytes();
        bytes[directory + 16..directory + 20].copy_from_slice(&sum);
        let document = open(bytes);
        let member = document.open_member(0).expect("three bytes");
        let found = packing(&member).into_iter();
        found.map(|(severity, _)| severity).collect::<Vec<_>>()
    };
    assert_eq!(said(&deflated), []);
    assert_eq!(
        said(&[&deflated[..], b"junk"].concat()),
        [Severity::Warning]
    );
    // Padding says nothing.
    assert_eq!(said(&[&deflated[..], &[0; 7]].concat()), []);
}

#[test]
fn what_a_frame_of_zstd_asks_for_that_cannot_be_is_named() {
    let why = |bytes: Vec<u8>| {
        let opened = open(bytes).open_member(0);
        opened.err().map(|error| error.diagnostic().message.clone())
    };
    // Without a single segment: a window, then a stored block of 3 bytes that is the last one.
    let window = |descriptor: u8, window: u8, rest: &[u8]| {
        [
            &[0x28, 0xb5, 0x2f, 0xfd, descriptor, window][..],
            rest,
            &[0x19, 0, 0],
            b"abc",
        ]
        .concat()
    };
    // 2^(10 + 21) bytes, more than there is room for: three bytes need none of it.
    for exponent in [0, 13, 17, 20, 21] {
        assert_eq!(why(window(0, exponent << 3 | 7, &[])), None, "{exponent}");
    }
    let dictionary = why(window(1, 0, &[9])).expect("a refusal");
    assert!(dictionary.contains("dictionary"), "{dictionary}");
    let reserved = why(window(8, 0, &[])).expect("a refusal");
    assert!(reserved.contains("reserved bit"), "{reserved}");
}

#[test]
fn grave_findings_are_kept_where_there_are_too_many() {
    let mut findings = Diagnostics::default();
    for _ in 0..Diagnostics::LIMIT {
        findings.push(Diagnostic::note(Kind::Format, "note"));
    }
    findings.push(Diagnostic::warning(Kind::Format, "warning"));
    findings.push(Diagnostic::note(Kind::Limit, "limit"));
    findings.push(Diagnostic::note(Kind::Format, "note"));
    findings.push(Diagnostic::error(Kind::Format, "error"));
    let last: Vec<_> = findings.iter().rev().take(4).map(|f| &*f.message).collect();
    assert_eq!(last, ["error", "limit", "warning", "note"]);
    let all = findings.all();
    assert_eq!(all.len(), Diagnostics::LIMIT + 1);
    assert_eq!(all[1000].message, "4 more findings are not listed");
    // As many errors: then the first ones are kept.
    for i in 0..2000 {
        findings.push(Diagnostic::error(Kind::Format, i.to_string()));
    }
    assert!(
        findings
            .iter()
            .all(|finding| finding.message != "1999" && finding.message != "note")
    );
    assert!(findings.iter().any(|finding| finding.message == "limit"));
}

/// Bytes that hardly pack: those of a linear congruential generator with the multiplier 48271 and the modulus 2^31 - 1.
fn noise(size: usize) -> Vec<u8> {
    let next = |seed: &u64| Some(seed * 48271 % 0x7fff_ffff);
    let seeds = std::iter::successors(Some(48271), next);
    seeds.map(|seed| seed as u8).take(size).collect()
}

#[test]
fn deflate_is_handed_out_with_what_it_looks_back_at() {
    // 3 MiB that repeat every 30,000 bytes: matches reach as far back as deflate's window allows, 32,768.
    let noise = noise(30_000);
    let whole: Vec<u8> = noise.iter().copied().cycle().take(3 << 20).collect();
    let deflated = miniz_oxide::deflate::compress_to_vec(&whole, 9);
    assert!(deflated.len() < whole.len() / 10);
    let sum = kernelscope::unpack::crc32(0, &whole);
    let document = open(gzip(&deflated, sum, whole.len() as u32));
    let unpacking = document.contents().begin_large(document.source(), 0);
    let mut handed = Vec::new();
    let (size, finding) = unpacking
        .expect("a member")
        .hand_out(|bytes| {
            handed.extend_from_slice(bytes);
            Ok::<(), kernelscope::error::Error>(())
        })
        .expect("all of it");
    assert!(handed == whole);
    assert_eq!((size, finding), (3 << 20, None));
}

/// A zip file of entries that all have these packed bytes (method 93 is zstd, 8 deflate), each declared to be `size` bytes.
fn shared(method: u8, packed: &[u8], size: u32, count: u16) -> Vec<u8> {
    let sizes = [(packed.len() as u32).to_le_bytes(), size.to_le_bytes()].concat();
    let method = [method, 0];
    let local = [
        b"PK\x03\x04\x14\0\0\0",
        &method[..],
        &[0; 8],
        &sizes,
        &[1, 0, 0, 0],
        b"a",
    ]
    .concat();
    let mut bytes = [&local[..], packed].concat();
    let start = bytes.len() as u32;
    for _ in 0..count {
        let head = [b"PK\x01\x02\x14\0\x14\0\0\0", &method[..], &[0; 8], &sizes];
        bytes.extend([&head.concat()[..], &[1, 0], &[0; 16], b"a"].concat());
    }
    let size = (bytes.len() as u32 - start).to_le_bytes();
    let counts = [count.to_le_bytes(), count.to_le_bytes()].concat();
    let end = [
        b"PK\x05\x06\0\0\0\0",
        &counts[..],
        &size,
        &start.to_le_bytes(),
        &[0; 2],
    ];
    bytes.extend(end.concat());
    bytes
}

#[test]
fn files_of_bombs_are_said_to_be_such() {
    let is_bomb = |bytes| {
        let document = open(bytes);
        messages(&document)
            .iter()
            .any(|said| said.contains("as decompression bombs do"))
    };
    // A block is 2^17 bytes of 4. 80 entries of 100 blocks, 13 MB each, are 1,048,576,000 bytes, less than 2^30; 82 are more, and take
    // what one takes.
    let packed = repeated(100);
    let size = 100 << 17;
    assert!(!is_bomb(shared(93, &packed, size, 80)));
    assert!(is_bomb(shared(93, &packed, size, 82)));
    // As much of a thousandth as many bytes is none: 82 times 13,107,200 of 1,074,790 and 20.
    let much = [&packed[..], &vec![0; 1_074_790]].concat();
    assert!(!is_bomb(shared(93, &much, size, 82)));
}

#[test]
fn a_survey_ends_at_so_many_bytes_of_all() {
    // Each is declared to unpack to 2^30 bytes, which a megabyte can (1032 times), and is refused at its first byte: it begins like an
    // archive, so that it is looked into, and goes on with a block of a type that deflate does not have.
    let mut packed = vec![0, 8, 0, 0xf7, 0xff];
    packed.extend(b"!<arch>\n");
    packed.extend(vec![0xff; (1 << 20) + 4096]);
    let mut document = open(shared(8, &packed, 1 << 30, 70));
    assert_eq!(document.contents().members[0].format, Format::Archive);
    while !document.survey(u64::MAX).finished {}
    let said = messages(&document);
    let refused = said
        .iter()
        .filter(|said| said.contains("malformed"))
        .count();
    assert_eq!(refused, 64);
    let ended = said
        .iter()
        .filter(|said| said.contains("to more bytes together"));
    assert_eq!(ended.count(), 1);
}

#[test]
fn the_size_in_a_trailer_is_not_taken_for_that_of_all() {
    let size = |document: &Document| {
        let members = document.table("members").expect("members");
        members
            .cell(0, "size")
            .text(kernelscope::rows::Unit::Number)
            .into_owned()
    };
    // The last bytes of it are the word "behind".
    let mut document = common::open("container/several.gz");
    assert_eq!(size(&document), "");
    while !document.survey(u64::MAX).finished {}
    let whole = document.open_member(0).expect("a fatbin").source().size();
    assert_eq!(size(&document), whole.to_string());
    // Two parts of 100,000 and of 10 bytes that cannot be packed well: the trailer has the last one's.
    let noise = noise(100_000);
    let part = |bytes: &[u8]| {
        let deflated = miniz_oxide::deflate::compress_to_vec(bytes, 6);
        gzip(
            &deflated,
            kernelscope::unpack::crc32(0, bytes),
            bytes.len() as u32,
        )
    };
    let document = open([part(&noise), part(&noise[..10])].concat());
    assert_eq!(size(&document), "");
    assert_eq!(
        document.open_member(0).expect("noise").source().size(),
        100_010
    );
}

/// Names that have led somewhere else, or to something else than a file, in some program.
fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        "../../up",
        "/abs",
        "..",
        ".",
        "a/../../b",
        "\\\\host\\share",
        "C:\\x",
        "C:x",
        "CON",
        "con.txt",
        "NUL",
        "aux.cubin",
        "COM1",
        "lpt9.x",
        "a\u{1b}[31mb",
        "new\nline",
        "\u{202e}nibuc.x",
        "end.",
        "end ",
        " ",
        "",
        "-rf",
        "~",
        "$HOME",
        "same",
        "same",
        "SAME",
        "a\u{0}b",
        "folder/x",
        "folder",
    ]
    .map(|name| name.as_bytes().to_vec())
    .to_vec();
    names.push(vec![b'n'; 65_000]);
    names.push(vec![0xff, 0xfe, b'x']);
    names.push([b"../".repeat(300), b"x".to_vec()].concat());
    names
}

#[test]
fn names_are_safe_and_each_another() {
    let names = names();
    let entries: Vec<_> = names
        .iter()
        .map(|name| (&name[..], &b"text"[..], None))
        .collect();
    let document = open(zip(&entries));
    // Folders, which end with a slash, are no members; nothing else is left out.
    assert_eq!(document.contents().members.len(), names.len());
    let files = document.contents().file_names("base");
    // Some systems do not tell capitals from small letters.
    let mut known: Vec<String> = files.iter().map(|name| name.to_lowercase()).collect();
    known.sort();
    known.dedup();
    assert_eq!(known.len(), files.len(), "{files:?}");
    for name in &files {
        assert!(name.len() <= 255, "{name}");
        assert_eq!(
            std::path::Path::new(name).components().count(),
            1,
            "{name:?}"
        );
        assert!(
            !name.contains(['/', '\\', ':', '\0']) && !name.contains(char::is_control),
            "{name:?}"
        );
        let stem = name
            .split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_uppercase();
        let is_device = ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str())
            || (stem.len() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT")));
        assert!(!is_device, "{name:?}");
    }
    // Paths open what they name.
    for index in 0..names.len() as u32 {
        let path = document.contents().path(index);
        assert!(document.open_path(&path).is_ok(), "{path:?}");
    }
}

#[cfg(all(feature = "cli", unix))]
#[test]
fn members_are_written_in_the_folder_and_nowhere_else() {
    let folder = std::env::temp_dir().join(format!("kernelscope-wrong-{}", std::process::id()));
    let out = folder.join("out");
    std::fs::create_dir_all(&out).expect("a folder");
    let names = names();
    let entries: Vec<_> = names
        .iter()
        .map(|name| (&name[..], &b"text"[..], None))
        .collect();
    let file = folder.join("names.zip");
    std::fs::write(&file, zip(&entries)).expect("a file");
    // Somebody has put links where members are to be written.
    let secret = folder.join("secret");
    std::fs::write(&secret, "kept").expect("a file");
    let of = open(zip(&entries)).contents().file_names("names");
    std::os::unix::fs::symlink(&secret, out.join(&of[0])).expect("a link");
    let arguments = [
        "extract",
        &file.display().to_string(),
        "--all",
        "-o",
        &out.display().to_string(),
    ];
    let output = common::kernelscope(&arguments);
    assert_eq!(std::fs::read_to_string(&secret).expect("a file"), "kept");
    let mut outside: Vec<_> = std::fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    outside.sort();
    assert_eq!(outside, ["names.zip", "out", "secret"]);
    let written = std::fs::read_dir(&out).expect("a folder").count();
    assert_eq!(
        written,
        names.len(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
}

#[test]
fn a_tar_whose_checksum_is_no_number_is_none() {
    // The field of 8 bytes with the bit of GNU's binary numbers, which only sizes have.
    let mut bytes = common::bytes("container/gnu.tar");
    bytes[148] = 0x80;
    let document = Document::open(Source::memory(bytes));
    assert!(document.contents().members.is_empty());
}

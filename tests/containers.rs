//! What files hold: every member that the vendors' tools extract is the same byte for byte, and whatever is wrong with a container is
//! a finding at its place.

mod common;

use kernelscope::container::{Format, MemberKind, names};
use kernelscope::error::Severity;
use kernelscope::extract::Extract;
use kernelscope::rows::Cell;
use kernelscope::source::ReadAt;
use kernelscope::unpack::Compression;
use kernelscope::{Document, Source};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a document.
fn all(document: &Document) -> Vec<u8> {
    let source = document.source();
    let whole = kernelscope::span::Span::new(0, source.size());
    source.read(whole).expect("bytes")
}

/// The bytes of member `index`.
fn member(document: &Document, index: usize) -> Vec<u8> {
    let opened = document.open_member(index as u32);
    all(&opened.unwrap_or_else(|error| panic!("member {index}: {error}")))
}

fn open(bytes: Vec<u8>) -> Document {
    let mut document = Document::open(Source::memory(bytes));
    document.check_all();
    document
}

/// The paths of the members.
fn paths(document: &Document) -> Vec<String> {
    let contents = document.contents();
    let count = contents.members.len() as u32;
    (0..count).map(|index| contents.path(index)).collect()
}

fn facts() -> serde_json::Map<String, Value> {
    serde_json::from_slice(&common::bytes("containers.json")).expect("facts")
}

/// Findings as lines: severity, message, context, offset.
fn findings(document: &Document) -> Vec<String> {
    let findings = document.findings().iter();
    let errors = findings.filter(|finding| finding.severity != Severity::Note);
    errors.map(ToString::to_string).collect()
}

/// `grep -abo` finds the ELF magic at 80, 3640 and 7480; the second member is 3716 bytes long.
#[test]
fn offsets_in_what_was_dropped_lead_into_members() {
    let stored = common::open("nvidia/fatbin/vadd.3arch+ptx.none.13.5.fatbin");
    let member = stored.open_path("1").expect("a member");
    let at = |expression: &str| {
        let target = member.resolve(expression);
        let target = target.map(|target| (target.span.offset, target.span.size));
        target.map_err(|error| error.to_string())
    };
    assert_eq!(at("file:3640"), Ok((0, 1)));
    assert_eq!(at("file:0xe38+0x40"), Ok((0x40, 1)));
    assert_eq!(at("file:7355"), Ok((3715, 1)));
    assert!(at("file:3639").unwrap_err().contains("begins at 0xe38"));
    assert!(at("file:7356").unwrap_err().contains("past the end"));
    assert!(at("file:-1").is_err() && at("file:x").is_err());
    let packed = common::open("nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin");
    let member = packed.open_path("1").expect("a member");
    let refused = member.resolve("file:0x50").expect_err("it was unpacked");
    assert!(refused.to_string().contains("lies nowhere"), "{refused}");
    // In a file that is no member both count alike.
    assert_eq!(packed.resolve("file:16").expect("a byte").span.offset, 16);
}

/// What is in kinds.gz is known only when it is unpacked: all of it is what cuobjdump extracts of kinds.fatbin, the row is that file.
#[test]
fn members_are_extracted_one_by_one() {
    let facts = facts();
    let sums = |path: &str| -> Vec<Value> {
        let files = facts[path]["files"].as_array().expect("files");
        files.iter().map(|file| file["sha256"].clone()).collect()
    };
    let written = |document: &Document, mut rest: Extract| {
        let mut written = Vec::new();
        while let Some(next) = rest.next(document) {
            assert!(next.findings.is_empty(), "{}", next.path);
            // The NVVM of kinds.fatbin is obfuscated: it is told, and cannot be unpacked.
            let sum = match next.opened {
                Ok(member) => Value::from(sha256(&all(&member))),
                Err(_) if next.path == "kinds!/0" => Value::Null,
                Err(error) => panic!("{}: {error}", next.path),
            };
            written.push((next.path, next.name, sum));
        }
        written
    };
    let packed = common::open("container/kinds.gz");
    let inner = written(&packed, Extract::all(&packed, "kinds"));
    let paths: Vec<_> = inner.iter().map(|(path, ..)| &**path).collect();
    assert_eq!(paths, ["kinds!/0", "kinds!/1", "kinds!/2", "kinds!/3"]);
    for sum in sums("container/kinds.fatbin") {
        assert!(inner.iter().any(|(.., found)| *found == sum), "{sum}");
    }
    let whole = written(&packed, Extract::of(&packed, "kinds", vec![0]));
    assert_eq!(whole.len(), 1);
    assert_eq!(vec![whole[0].2.clone()], sums("container/kinds.gz"));
    // An archive alone is a file; beside what is in it, it is not.
    let wheel = common::open("container/package.whl");
    let paths = |rows: &[u32]| -> Vec<String> {
        let extract = Extract::of(&wheel, "package", rows.to_vec());
        let written = written(&wheel, extract).into_iter();
        written.map(|(path, ..)| path).collect()
    };
    assert_eq!(paths(&[1]), ["package/libscale.a"]);
    assert_eq!(
        paths(&[6, 1, 6, 99, 0]),
        [
            "package/__init__.py",
            "package/libscale.a!/scale.sm_80.cubin"
        ]
    );
}

/// What cuobjdump extracts of a fatbin or a host program, by the names that it gives.
fn is_extracted(path: &str, base: &str, files: &Value) {
    let document = common::open(path);
    let names = document.contents().file_names(base);
    let files = files.as_array().expect("files");
    for file in files {
        let name = file["name"].as_str().expect("a name");
        let index = names.iter().position(|known| known == name);
        let index = index.unwrap_or_else(|| panic!("{path}: {name} is not in {names:?}"));
        let bytes = member(&document, index);
        assert_eq!(sha256(&bytes), file["sha256"], "{path}: {name}");
        assert_eq!(bytes.len() as u64, file["bytes"], "{path}: {name}");
        let declared = document.contents().members[index].size();
        assert_eq!(declared, Some(bytes.len() as u64), "{path}: {name}");
    }
    // And there are no others, apart from those that cuobjdump does not extract.
    let mut formats = document
        .contents()
        .members
        .iter()
        .map(|member| member.format);
    let count = formats
        .by_ref()
        .filter(|format| matches!(format, Format::Cubin | Format::Ptx));
    assert_eq!(count.count(), files.len(), "{path}");
}

/// A program of two fatbins.
const PROGRAM: &str = "nvidia/host/exe_two_arch.13.5";

#[test]
fn members_of_fatbins_are_what_cuobjdump_extracts() {
    for (path, facts) in common::facts("fatbins") {
        let file = path.rsplit('/').next().expect("a name");
        let stem = file.strip_suffix(".fatbin").or(file.strip_suffix(".o"));
        // What is extracted of the program is with the other containers.
        if path != PROGRAM {
            is_extracted(&path, stem.unwrap_or(file), &facts["extracted"]);
        }
        // What cuobjdump prints of each: cubins first, then PTX.
        let document = common::open(&path);
        let entries = facts["entries"].as_array().expect("entries");
        for (word, format) in [("elf", Format::Cubin), ("ptx", Format::Ptx)] {
            let members = document.contents().members.iter();
            let found: Vec<_> = members
                .filter(|member| member.format == format)
                .map(|member| {
                    let target = member.target.as_deref().unwrap_or_default();
                    (target.to_owned(), member.compression != Compression::None)
                })
                .collect();
            let expected = entries.iter().filter(|entry| entry["kind"] == word);
            let expected: Vec<_> = expected
                .map(|entry| {
                    let arch = entry["arch"].as_str().unwrap_or_default();
                    (arch.to_owned(), entry["compressed"] == true)
                })
                .collect();
            assert_eq!(found, expected, "{path}: {word}");
        }
    }
    let facts = facts();
    for (path, base) in [
        ("container/concat.fatbin", "concat"),
        ("container/kinds.fatbin", "kinds"),
        ("container/stripped.o", "host"),
        (PROGRAM, "exe_two_arch.13"),
    ] {
        is_extracted(path, base, &facts[path]["files"]);
    }
}

#[test]
fn members_of_bundles_are_what_they_were_made_of() {
    for (path, facts) in common::facts("containers") {
        let document = common::open(&path);
        let contents = document.contents();
        assert_eq!(findings(&document), [""; 0], "{path}");
        let entries = facts.as_array().expect("entries");
        let mut found = 0;
        for (index, of) in contents.members.iter().enumerate() {
            if of.children > 0 || of.format == Format::OffloadBundle {
                continue;
            }
            let entry = &entries[found];
            found += 1;
            let bytes = member(&document, index);
            let digest = sha256(&bytes);
            assert_eq!(&digest[..16], entry["sha256_16"], "{path}: {}", of.name);
            // Places are those in the file, or in what is unpacked.
            let start = match of.base {
                None => entry["at"].as_u64().unwrap_or_default(),
                Some(_) => 0,
            };
            assert_eq!(
                of.span.offset - start,
                entry["offset"],
                "{path}: {}",
                of.name
            );
            assert_eq!(of.span.size, entry["size"], "{path}: {}", of.name);
            let id = entry["id"].as_str().unwrap_or_default();
            match &entry["strings"] {
                Value::Null => assert_eq!(&*of.name, id, "{path}"),
                strings => assert_eq!(of.target.as_deref(), strings["arch"].as_str(), "{path}"),
            }
            if let Some(kind) = entry["image_kind"].as_u64() {
                assert!(matches!(of.kind, MemberKind::Number(found, _) if found == kind));
            }
        }
        assert_eq!(found, entries.len(), "{path}");
    }
    let facts = facts();
    for path in ["container/v2.hipfb", "container/rdc.o"] {
        let document = common::open(path);
        for file in facts[path]["files"].as_array().expect("files") {
            let name = file["name"].as_str().expect("a name");
            let members = &document.contents().members;
            let index = members.iter().position(|member| &*member.name == name);
            let bytes = member(&document, index.expect(name));
            assert_eq!(sha256(&bytes), file["sha256"], "{path}: {name}");
        }
    }
}

#[test]
fn members_of_packages_are_the_files_that_they_were_made_of() {
    let facts = facts();
    for path in [
        "container/gnu.a",
        "container/bsd.a",
        "container/package.whl",
        "container/gnu.tar",
        "container/pax.tar",
        "container/kinds.gz",
        "container/kinds.zst",
    ] {
        let document = common::open(path);
        assert_eq!(findings(&document), [""; 0], "{path}");
        for file in facts[path]["files"].as_array().expect("files") {
            // A zstd file has no name.
            let name = match path {
                "container/kinds.zst" => "0",
                _ => file["name"].as_str().expect("a name"),
            };
            let opened = document.open_path(name);
            let bytes = all(&opened.unwrap_or_else(|error| panic!("{path}: {name}: {error}")));
            assert_eq!(sha256(&bytes), file["sha256"], "{path}: {name}");
        }
    }
}

#[test]
fn members_are_opened_to_any_depth() {
    let expected = &facts()["container/stripped.o"]["files"][0]["sha256"];
    let document = common::open("container/package.whl");
    let path = "package/libscale.a!/stripped.o!/0!/0";
    let cubin = document.open_path(path).expect("a cubin");
    assert_eq!(&sha256(&all(&cubin)), expected.as_str().expect("a digest"));
    assert_eq!(cubin.target().as_deref(), Some("sm_86"));
    assert_eq!(cubin.kernel_count(), Some(1));
    // It is unpacked, so no byte of it is in the file; the fatbin around it is stored.
    assert_eq!(cubin.source().in_file(0), None);
    let fatbin = document
        .open_path("package/libscale.a!/stripped.o!/0")
        .expect("a fatbin");
    let place = fatbin.source().in_file(0).expect("a place") as usize;
    assert_eq!(
        common::bytes("container/package.whl")[place..][..4],
        [0x50, 0xed, 0x55, 0xba]
    );
    // Members of what is packed are known once it is unpacked.
    let packed = common::open("container/kinds.gz");
    assert_eq!(packed.format(), Format::Gzip);
    let cubin = packed.open_path("kinds!/1").expect("a cubin");
    assert_eq!(cubin.target().as_deref(), Some("sm_90a"));
    for missing in ["", "kinds!/9", "kinds!/", "kind", "0"] {
        assert!(packed.open_path(missing).is_err(), "{missing:?}");
    }
    // What has a path can be opened by it, wherever it is.
    for path in common::all(&["container", "amdgpu/con", "nvidia/host"]) {
        let document = common::open(&path);
        for (index, path) in paths(&document).iter().enumerate() {
            let opened = document.open_path(path).map(|opened| all(&opened));
            let direct = document
                .open_member(index as u32)
                .map(|opened| all(&opened));
            assert_eq!(opened.ok(), direct.ok(), "{path}");
        }
    }
}

#[test]
fn a_library_for_windows_has_the_sections_of_both_vendors() {
    let document = common::open("container/library.dll");
    assert_eq!(document.format(), Format::Pe);
    assert_eq!(findings(&document), [""; 0]);
    // What clang and lld were given.
    for (path, file) in [
        ("1", "container/kinds.fatbin"),
        ("2", "container/concat.fatbin"),
    ] {
        let opened = document.open_path(path).expect(path);
        assert_eq!(all(&opened), common::bytes(file), "{path}");
    }
    let kinds: Vec<_> = document
        .contents()
        .members
        .iter()
        .filter(|m| m.depth == 0)
        .collect();
    let kinds: Vec<_> = kinds.iter().map(|member| &member.kind).collect();
    let word = |word: &str| MemberKind::Word(word.into());
    assert_eq!(
        kinds,
        [&word(".hip_fat"), &word(".nv_fatb"), &word(".nv_fatb")]
    );
    assert_eq!(document.verdict().text, "carries GPU code · no findings");
    assert_eq!(
        document.facts(),
        [
            "machine code for gfx906, gfx1100, sm_90a, sm_100f, sm_80, sm_86",
            "PTX for sm_120",
            "IR for sm_90",
        ]
    );
    // Wrappers are records: of CUDA and of HIP.
    let labels: Vec<String> = document
        .leaves()
        .iter()
        .map(|leaf| document.contents().label(leaf.part))
        .collect();
    for label in [
        "fatbin wrapper",
        "wrapper of a bundle",
        "PE section header",
        "fatbin entry",
    ] {
        assert!(
            labels.iter().any(|known| known == label),
            "{label}: {labels:?}"
        );
    }
}

#[test]
fn architectures_are_counted_by_code() {
    let document = common::open("nvidia/host/exe_two_arch.13.5");
    let table = document.table("archs").expect("architectures");
    let rows: Vec<String> = (0..table.len())
        .map(|row| {
            let columns = [
                "target",
                "code",
                "count",
                "stored_size",
                "size",
                "compression",
            ];
            let cells = columns.map(|key| {
                table
                    .cell(row, key)
                    .text(kernelscope::rows::Unit::Number)
                    .into_owned()
            });
            cells.join(" ")
        })
        .collect();
    // The sums of what cuobjdump extracts; the PTX is compressed: 0x593 of its 0x598 bytes are used.
    assert_eq!(
        rows,
        [
            "sm_75 machine code 2 11352 11352 none",
            "sm_90 machine code 2 13160 13160 none",
            "sm_90 PTX 1 1427 5960 zstd",
        ]
    );
}

#[test]
fn headers_are_records_where_they_are() {
    // A concatenated entry: kind 0x100, two images of 3240 bytes each, which are 6480.
    let document = common::open("container/concat.fatbin");
    let location = document.locate(0x10);
    let record = &location.records[0];
    assert_eq!(record.name, "fatbin entry");
    assert_eq!(record.number("kind"), 0x100);
    assert_eq!(record.number("count"), 2);
    assert_eq!(record.number("arch(0)"), 80);
    assert_eq!(record.number("arch(1)"), 86);
    assert_eq!(record.number("size(1)"), 3240);
    assert_eq!(record.number("offset(1)"), 3240);
    // An identifier and options, as they were given to fatbinary.
    let document = common::open("nvidia/fatbin/vadd.ident.cmdline.13.5.fatbin");
    let record = &document.locate(0x420).records[0];
    let text = |name: &str| record.field(name).map(|field| field.value_text());
    assert_eq!(text("identifier").as_deref(), Some("my_identifier_name.cu"));
    assert_eq!(text("options").as_deref(), Some("-O3 --maxrregcount 64"));
    // An entry of a bundle, with its ID.
    let document = common::open("amdgpu/con/three.hipfb");
    let location = document.locate(32 + 24 + 30);
    let record = &location.records[0];
    assert_eq!(
        record
            .field("ID")
            .map(|field| field.value_text())
            .as_deref(),
        Some("hipv4-amdgcn-amd-amdhsa--gfx906")
    );
    assert_eq!(record.number("size"), 4384);
    // In a host program the section is told, too: its own parts first.
    let document = common::open("nvidia/host/exe_two_arch.13.5");
    let location = document.locate(0x2060);
    let names: Vec<&str> = location
        .parts
        .iter()
        .map(|part| &*part.name)
        .take(3)
        .collect();
    assert_eq!(names, ["fatbin entry", "0", ".nv_fatbin"]);
    // A member of an archive.
    let document = common::open("amdgpu/con/codeobjects.a");
    let member = &document.contents().members[0];
    let record = &document.locate(member.header.offset).records[0];
    assert_eq!(
        record
            .field("ar_size")
            .map(|field| field.value_text().trim_end().to_owned())
            .as_deref(),
        Some("4384")
    );
}

#[test]
fn wrong_sizes_and_places_are_findings_where_they_stand() {
    let fatbin = common::bytes("nvidia/fatbin/vadd.3arch+ptx.none.13.5.fatbin");
    let bundle = common::bytes("amdgpu/con/three.hipfb");
    let packed = common::bytes("amdgpu/con/three.ccob-v3-zstd.hipfb");
    let offload = common::bytes("amdgpu/con/packed.bin");
    let archive = common::bytes("container/gnu.a");
    let wheel = common::bytes("container/package.whl");
    let tar = common::bytes("container/gnu.tar");
    let central = wheel
        .windows(4)
        .position(|w| w == b"PK\x01\x02")
        .expect("a directory");
    let end = wheel.len() - 22;
    // File, where it is changed, the bytes there, and the offset of the finding.
    let cases: &[(&[u8], usize, &[u8], usize)] = &[
        // The fatbin's header: its size, the size of its entries.
        (&fatbin, 6, &[4, 0], 6),
        (&fatbin, 8, &[0xff; 8], 8),
        // The first entry: header size, payload size, offset of an identifier of 1 byte, of options.
        (&fatbin, 0x14, &[0x3f], 0x14),
        (&fatbin, 0x14, &[0xff; 4], 0x14),
        (&fatbin, 0x18, &[0xff; 8], 0x18),
        (&fatbin, 0x34, &[1], 0x30),
        (&fatbin, 0x24, &[0xff; 4], 0x24),
        // The bundle: entries, an entry's place, the length of an ID.
        (&bundle, 24, &[0xff; 8], 0xfc),
        (&bundle, 0x56, &[0xff; 8], 0x56),
        (&bundle, 0x5e, &[0xff; 8], 0x56),
        (&bundle, 0x66, &[0xff; 8], 0x56),
        // The second entry begins where the first does: they share bytes.
        (&bundle, 0x8d, &0xfc_u64.to_le_bytes(), 0x8d),
        // The compressed bundle: version, method, sizes.
        (&packed, 4, &[9], 4),
        (&packed, 6, &[7], 6),
        (&packed, 8, &[0xff; 8], 8),
        (&packed, 16, &[0xff; 7], 0),
        // The offload binary: size, entry, strings, image.
        (&offload, 8, &[0xff; 8], 8),
        (&offload, 16, &[0xff; 8], 16),
        (&offload, 32 + 8, &[0xff; 8], 32 + 8),
        (&offload, 32 + 24, &[0xff; 8], 32 + 24),
        // The archive: a header's end, a size that is none or too large.
        (&archive, 8 + 58, b"x", 8 + 58),
        (&archive, 8 + 48, b"x", 8 + 48),
        (&archive, 8 + 48, b"9999999999", 8 + 48),
        // The wheel: the directory's size, the place of a local header, a size, a name's length.
        (&wheel, end + 12, &[0xff; 4], end + 12),
        (&wheel, central + 42, &[0xff; 3], central + 42),
        (
            &wheel,
            central + 20,
            &[0xfe, 0xff, 0xff, 0x7f],
            central + 20,
        ),
        (&wheel, central + 28, &[0xff, 0xff], central),
        // The tar archive: the checksum and what it is of.
        (&tar, 148, b"7", 148),
        (&tar, 0, b"!", 148),
    ];
    for (bytes, at, changed, offset) in cases {
        let mut bytes = bytes.to_vec();
        assert_eq!(findings(&open(bytes.clone())), [""; 0]);
        bytes[*at..*at + changed.len()].copy_from_slice(changed);
        let document = open(bytes);
        let found: Vec<_> = document
            .findings()
            .iter()
            .map(|finding| finding.offset)
            .collect();
        assert!(
            found.contains(&Some(*offset as u64)),
            "{changed:x?} at 0x{at:x}: expected a finding at 0x{offset:x}, found {:?}",
            findings(&document)
        );
        assert!(document.findings().has_errors());
    }
}

#[test]
fn what_cannot_be_unpacked_is_refused_where_it_lies() {
    // Each compressed member of these with its last quarter missing, or with a byte in the middle changed.
    for path in [
        "nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin",
        "nvidia/fatbin/vadd.3arch+ptx.speed.13.5.fatbin",
        "amdgpu/con/three.ccob-v1-zlib.hipfb",
        "amdgpu/con/three.ccob-v3-zstd.hipfb",
        "container/package.whl",
        "container/kinds.gz",
    ] {
        let bytes = common::bytes(path);
        let document = open(bytes.clone());
        let members = document.contents().members.iter().enumerate();
        let packed =
            members.filter(|(_, of)| of.compression != Compression::None && of.base.is_none());
        for (index, of) in packed {
            let mut cut = bytes.clone();
            let span = of.span.offset as usize..of.span.end() as usize;
            let at = span.start + span.len() * 3 / 4;
            cut[at..span.end].fill(0);
            let error = match open(cut).open_member(index as u32) {
                // A checksum tells what the compression does not.
                Ok(opened) => opened
                    .findings()
                    .iter()
                    .next()
                    .cloned()
                    .unwrap_or_else(|| panic!("{path}: {}", of.name)),
                Err(error) => error.into_diagnostic(),
            };
            // Where the bytes are that cannot be read, or where the member begins.
            let is_in = |at: u64| at >= of.span.offset && at <= of.span.end();
            assert!(error.offset.is_some_and(is_in), "{path}: {error}");
        }
    }
    // A hash that does not fit: the members are there, and the finding, too.
    let document = common::open("container/hash.hipfb");
    let bundle = document.open_member(0).expect("a bundle");
    assert_eq!(
        findings(&bundle),
        ["what it unpacks to does not have the hash that its header gives (member 0) at 0x18"]
    );
    let right = common::open("container/v2.hipfb")
        .open_member(0)
        .expect("a bundle");
    assert_eq!(all(&bundle), all(&right));
    assert_eq!(findings(&right), [""; 0]);
}

#[test]
fn bombs_are_refused() {
    // A gzip file of 4563 compressed bytes that says it unpacks to 4 GiB: deflate makes 1032 bytes of one at most.
    let mut bytes = common::bytes("container/kinds.gz");
    let end = bytes.len() - 4;
    bytes[end..].copy_from_slice(&u32::MAX.to_le_bytes());
    let document = open(bytes);
    assert_eq!(document.findings().len(), 1, "{:?}", findings(&document));
    // It is what it is, and that is said.
    let member = document.open_member(0).expect("a fatbin");
    assert_eq!(all(&member), common::bytes("container/kinds.fatbin"));
    assert!(findings(&member)[0].contains("another number of bytes"));
    // More than is declared: the size in the fatbin's entry is one less than it is.
    let mut bytes = common::bytes("nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin");
    for change in [-1_i64, 1] {
        let size = (0xda8 + change) as u64;
        bytes[0x48..0x50].copy_from_slice(&size.to_le_bytes());
        assert!(open(bytes.clone()).open_member(0).is_err(), "{change}");
    }
    // Archives in archives in archives: looked into so far, then no farther, and opened one by one.
    let mut nested = b"end".to_vec();
    for _ in 0..40 {
        let header = format!(
            "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            "a/",
            0,
            0,
            0,
            644,
            nested.len()
        );
        let padding = vec![b'\n'; nested.len() % 2];
        nested = [b"!<arch>\n", header.as_bytes(), &nested, &padding].concat();
    }
    let document = open(nested);
    assert!(document.contents().members.len() < 10);
    assert!(
        document
            .findings()
            .iter()
            .any(|finding| finding.message.contains("deep"))
    );
    let path = vec!["a"; 40].join("!/");
    let end = document.open_path(&path).expect("the innermost");
    assert_eq!(all(&end), b"end");
}

#[test]
fn headers_that_refer_to_the_same_bytes_end() {
    // A zip file whose directory has one stored ELF file of 4 MiB of section headers 20,000 times.
    let elf = {
        let mut elf = vec![0; 4 << 20];
        elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        elf[16..24].copy_from_slice(&[1, 0, 62, 0, 1, 0, 0, 0]);
        elf[40] = 64;
        elf[52] = 64;
        elf[58] = 64;
        elf[60..62].copy_from_slice(&60_000_u16.to_le_bytes());
        elf
    };
    let size = (elf.len() as u32).to_le_bytes();
    let local = [
        b"PK\x03\x04".as_slice(),
        &[0; 14],
        &size,
        &size,
        &[1, 0, 0, 0],
        b"a",
    ]
    .concat();
    let entry = [
        b"PK\x01\x02".as_slice(),
        &[0; 16],
        &size,
        &size,
        &[1],
        &[0; 17],
        b"a",
    ]
    .concat();
    let count = 20_000_u16;
    let directory = entry.repeat(count.into());
    let start = ((local.len() + elf.len()) as u32).to_le_bytes();
    let long = (directory.len() as u32).to_le_bytes();
    let counts = [count.to_le_bytes(), count.to_le_bytes()].concat();
    let end = [
        b"PK\x05\x06".as_slice(),
        &[0; 4],
        &counts,
        &long,
        &start,
        &[0; 2],
    ]
    .concat();
    let document = open([local, elf, directory, end].concat());
    assert!(document.contents().members.len() > 10);
    let too_long = |finding: &kernelscope::error::Diagnostic| finding.message.contains("too long");
    assert!(
        document.findings().iter().any(too_long),
        "{:?}",
        findings(&document)
    );
}

#[test]
fn a_thin_archive_is_refused_with_the_reason() {
    let document = common::open("container/thin.a");
    assert!(document.contents().members.is_empty());
    assert!(
        findings(&document)[0].contains("thin archive"),
        "{:?}",
        findings(&document)
    );
}

#[test]
fn files_are_written_under_names_that_lead_nowhere() {
    let document = common::open("container/names.zip");
    let names = document.contents().file_names("names");
    let mut sorted = names.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len(), "{names:?}");
    for name in &names {
        assert_eq!(names::safe(name), *name);
        assert!(
            !name.contains(['/', '\\', ':']) && !name.contains(char::is_control),
            "{name:?}"
        );
        assert_eq!(std::path::Path::new(name).components().count(), 1);
    }
    // Two of the same name are two members.
    let paths = paths(&document);
    assert_eq!(paths[4], "same.cubin");
    assert_ne!(paths[5], "same.cubin");
    assert!(document.open_path(&paths[5]).is_ok());
}

/// A fatbin of so many entries of 512 KiB each of which only the headers are anything.
struct Sparse {
    entries: u64,
}

impl Sparse {
    const ENTRY: u64 = 64 + (512 << 10);
}

impl ReadAt for Sparse {
    fn size(&self) -> u64 {
        16 + self.entries * Self::ENTRY
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        into.fill(0);
        let last = (offset + into.len() as u64) / Self::ENTRY;
        let mut put = |at: u64, bytes: &[u8]| {
            for (at, byte) in (at..).zip(bytes) {
                if let Some(place) = at
                    .checked_sub(offset)
                    .and_then(|at| into.get_mut(at as usize))
                {
                    *place = *byte;
                }
            }
        };
        put(0, &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
        put(8, &(self.entries * Self::ENTRY).to_le_bytes());
        for entry in offset / Self::ENTRY..=last.min(self.entries - 1) {
            let mut header = [0; 64];
            header[..8].copy_from_slice(&[2, 0, 1, 1, 64, 0, 0, 0]);
            header[8..16].copy_from_slice(&(512_u64 << 10).to_le_bytes());
            header[16..20].copy_from_slice(&(512_u32 << 10).to_le_bytes());
            header[28..32].copy_from_slice(&[50 + (entry % 8) as u8, 0, 0, 0]);
            header[40..48].copy_from_slice(&0x2011_u64.to_le_bytes());
            header[56..].copy_from_slice(&(1_u64 << 20).to_le_bytes());
            put(16 + entry * Self::ENTRY, &header);
        }
        Ok(())
    }
}

#[test]
fn a_file_of_thousands_of_members_is_read_by_its_headers() {
    let entries = 3000;
    let document = Document::open(Source::sliced(Sparse { entries }));
    assert_eq!(findings(&document), [""; 0]);
    let table = document.table("archs").expect("architectures");
    assert_eq!(table.len(), 8);
    assert_eq!(table.cell(0, "count"), (entries / 8).into());
    assert_eq!(
        table.cell(0, "stored_size"),
        (entries / 8 * (512 << 10)).into()
    );
    assert_eq!(table.cell(0, "size"), (entries / 8 * (1 << 20)).into());
    // A page of 64 KiB for each header, and some for those that lie across two.
    let fetched = document.source().fetched();
    assert!(fetched < entries * (70 << 10), "{fetched} bytes fetched");
}

/// What the terminal's door makes of members.
#[cfg(feature = "cli")]
mod terminal {
    use super::common::{self, fixture, kernelscope};

    const VADD: &str = "nvidia/cubin/vadd.sm_90a.13.0.cubin";

    /// What a command prints, as JSON.
    fn json(arguments: &[&str]) -> serde_json::Value {
        let output = kernelscope(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    const FATBIN: &str = "nvidia/fatbin/vadd.3arch+ptx.default.13.5.fatbin";

    #[test]
    fn what_is_packed_together_has_shares_of_what_is_stored() {
        let path = fixture("amdgpu/con/three.ccob-v3-zstd.hipfb");
        let archs = json(&["archs", &path]);
        let archs = archs.as_array().expect("rows");
        // clang-offload-bundler -list: three targets. All of it is packed by zstd.
        assert_eq!(archs.len(), 3);
        assert!(archs.iter().all(|arch| arch["compression"] == "zstd"));
        let stored: u64 = archs
            .iter()
            .filter_map(|arch| arch["stored_size"].as_u64())
            .sum();
        let whole = std::fs::metadata(&path).expect("a file").len();
        assert!(stored > 0 && stored < whole, "{stored} of {whole}");
    }

    #[test]
    fn what_is_obfuscated_is_said_and_not_written() {
        let folder = std::env::temp_dir().join(format!("kernelscope-lto-{}", std::process::id()));
        let out = folder.display().to_string();
        let output = kernelscope(&[
            "extract",
            &fixture("container/kinds.fatbin"),
            "--all",
            "-o",
            &out,
        ]);
        // A member that is asked for is not there.
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("obfuscated"));
        // What cuobjdump extracts: two cubins and a text.
        assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 3);
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }

    #[test]
    fn code_of_one_vendor_does_not_run_on_gpus_of_the_other() {
        for (file, gpu) in [(VADD, "gfx90a"), ("amdgpu/out/args.gfx90a.v5.co", "sm_90")] {
            let output = kernelscope(&["runs", &fixture(file), gpu]);
            assert_eq!(output.status.code(), Some(0), "{file}");
            assert!(
                String::from_utf8_lossy(&output.stdout).contains(": no"),
                "{file}"
            );
        }
    }

    #[test]
    fn architectures_of_packed_programs_are_told() {
        let path = std::env::temp_dir().join(format!("kernelscope-{}.gz", std::process::id()));
        let packed = super::gzip(&common::bytes(super::PROGRAM));
        std::fs::write(&path, packed).expect("a file");
        let file = path.display().to_string();
        // That the file has no checksum that fits is an error of it.
        let out = kernelscope(&["archs", &file, "--json"]).stdout;
        let runs = kernelscope(&["runs", &file, "sm_90"]).stdout;
        std::fs::remove_file(&path).expect("the file is removed");
        let archs: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        // cuobjdump -lelf, -lptx: in two fatbins for sm_75 and sm_90 each, and a text for sm_90.
        let archs = archs.as_array().expect("rows").iter();
        let told: Vec<_> = archs
            .map(|row| {
                (
                    row["target"].as_str(),
                    row["code"].as_str(),
                    row["count"].as_u64(),
                )
            })
            .collect();
        let machine = |target| (Some(target), Some("machine code"), Some(2));
        let expected = [
            machine("sm_75"),
            machine("sm_90"),
            (Some("sm_90"), Some("PTX"), Some(1)),
        ];
        assert_eq!(told, expected);
        assert!(String::from_utf8_lossy(&runs).contains(": yes"));
    }

    #[test]
    fn members_are_listed_and_extracted_as_cuobjdump_does() {
        let facts = common::facts("fatbins");
        let file = fixture(FATBIN);
        let extracted = facts[FATBIN]["extracted"].as_array().expect("files");
        let members = json(&["ls", &file]);
        assert_eq!(members.as_array().expect("members").len(), extracted.len());
        assert_eq!(members[0]["path"], "0");
        assert_eq!(members[0]["kind"], 2);
        assert_eq!(members[3]["format"], "ptx");
        let folder =
            std::env::temp_dir().join(format!("kernelscope-extract-{}", std::process::id()));
        let out = folder.display().to_string();
        let written = json(&["extract", &file, "--all", "-o", &out]);
        assert_eq!(written.as_array().expect("files").len(), extracted.len());
        for fact in extracted {
            let name = fact["name"].as_str().expect("a name");
            let bytes = std::fs::read(folder.join(name)).expect(name);
            assert_eq!(bytes.len() as u64, fact["bytes"], "{name}");
        }
        let written = json(&["extract", &file, "--member", "3", "-o", &out]);
        assert_eq!(written[0]["path"], "3");
        // Names that lead elsewhere stay in the folder.
        let names = fixture("container/names.zip");
        let written = json(&["extract", &names, "--all", "-o", &out]);
        for file in written.as_array().expect("files") {
            let name = file["file"].as_str().expect("a name");
            assert!(folder.join(name).is_file(), "{name}");
            assert!(!name.contains('/'), "{name}");
        }
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
        for bad in [
            &["extract", &file, "--all"][..],
            &["extract", &file, "-o", &out],
            &["extract", &file, "--all", "--member", "0", "-o", &out],
            &["report", &file, "--member", "9"],
            &["ls", &file, "--all"],
        ] {
            assert_eq!(kernelscope(bad).status.code(), Some(2), "{bad:?}");
        }
        assert!(
            !folder.exists()
                || std::fs::read_dir(&folder)
                    .expect("a folder")
                    .next()
                    .is_none()
        );
        let _ = std::fs::remove_dir_all(&folder);
        // What holds nothing has no members, which is no mistake.
        assert_eq!(json(&["ls", &fixture(VADD)]), serde_json::json!([]));
    }

    #[test]
    fn members_are_written_to_one_zip_file() {
        let facts = common::facts("fatbins");
        let extracted = facts[FATBIN]["extracted"].as_array().expect("files");
        let name = format!("kernelscope-{}.zip", std::process::id());
        let path = std::env::temp_dir().join(name);
        let out = path.display().to_string();
        let written = json(&["extract", &fixture(FATBIN), "--all", "-o", &out]);
        assert_eq!(written.as_array().expect("files").len(), extracted.len());
        let bytes = std::fs::read(&path).expect("a zip file");
        std::fs::remove_file(&path).expect("it is removed");
        let zip = super::open(bytes);
        // The CRC-32 of each is checked as it is opened.
        assert_eq!(super::findings(&zip), [""; 0]);
        assert_eq!(zip.contents().members.len(), extracted.len());
        for fact in extracted {
            let name = fact["name"].as_str().expect("a name");
            let member = zip.open_path(name).expect(name);
            assert_eq!(
                super::sha256(&super::all(&member)),
                fact["sha256"],
                "{name}"
            );
            assert_eq!(super::findings(&member), [""; 0]);
        }
    }

    #[test]
    fn kernels_of_all_members_are_what_cuobjdump_prints() {
        let facts = common::facts("fatbins");
        let file = fixture(FATBIN);
        let kernels = json(&["kernels", &file, "--all"]);
        let entries = facts[FATBIN]["entries"].as_array().expect("entries");
        let expected: Vec<_> = entries
            .iter()
            .filter_map(|entry| {
                let (name, function) = entry["functions"].as_object()?.iter().next()?;
                Some((
                    entry["arch"].clone(),
                    name.clone(),
                    function["registers"].clone(),
                ))
            })
            .collect();
        let found = kernels.as_array().expect("kernels").iter();
        let found: Vec<_> = found
            .map(|kernel| {
                let name = kernel["name"].as_str().unwrap_or_default().to_owned();
                (kernel["target"].clone(), name, kernel["registers"].clone())
            })
            .collect();
        assert_eq!(found, expected);
        // The whole file first, then what is in it, the largest first.
        let program = fixture("nvidia/host/exe_two_arch.13.5");
        let sizes = json(&["size", &program]);
        let sizes = sizes.as_array().expect("rows");
        let whole = std::fs::metadata(&program).expect("a file").len();
        assert_eq!(sizes[0]["stored_size"], whole);
        let members = sizes.iter().filter(|row| row["is_member"] == true);
        assert_eq!(members.count(), 5);
        // In text as far as the members, unless all is asked for.
        let lines = |options: &[&str]| {
            let arguments = [&["size", program.as_str()], options].concat();
            let out = common::kernelscope(&arguments).stdout;
            out.split(|&byte| byte == b'\n').count()
        };
        assert!(lines(&[]) < lines(&["--all"]));
        let direct: Vec<_> = sizes.iter().filter(|row| row["depth"] == 1).collect();
        assert!(
            direct
                .windows(2)
                .all(|pair| pair[0]["stored_size"].as_u64() >= pair[1]["stored_size"].as_u64())
        );
        let report = json(&[
            "report",
            &fixture("container/package.whl"),
            "--member",
            "package/scale.cubin",
        ]);
        assert_eq!(report["format"], "cubin");
        assert_eq!(report["kernels"][0]["name"], "scale");
        let report = json(&["report", &fixture("amdgpu/con/three.ccob-v3-zstd.hipfb")]);
        assert_eq!(report["compression"], "zstd");
        assert_eq!(
            report["members"][2]["path"],
            "0!/hipv4-amdgcn-amd-amdhsa--gfx906"
        );
        assert_eq!(report["archs"].as_array().expect("architectures").len(), 3);
    }
}

/// Findings of a member that is stored as it is have the dropped file's offsets; as the member's own bytes are shown, its own.
#[test]
fn findings_of_a_stored_member_are_told_in_both_coordinates() {
    let cubin = common::bytes("own/overlapping-sections.cubin");
    let alone = open(cubin.clone());
    let offsets = |findings: &[kernelscope::error::Diagnostic]| -> Vec<Option<u64>> {
        findings.iter().map(|finding| finding.offset).collect()
    };
    let expected = offsets(&alone.findings().all());
    assert!(expected.iter().any(Option::is_some));
    // ar: 8 bytes of magic and 60 of a member's header, so that the member begins at 68.
    let header = format!(
        "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        "bad.cubin/",
        0,
        0,
        0,
        644,
        cubin.len()
    );
    let archive = [b"!<arch>\n", header.as_bytes(), &cubin].concat();
    let mut member = open(archive).open_member(0).expect("a member");
    member.check_all();
    assert_eq!(offsets(&member.findings_within()), expected);
    let shifted: Vec<_> = expected.iter().map(|at| at.map(|at| at + 68)).collect();
    assert_eq!(offsets(&member.findings().all()), shifted);
    let table = member.table("diagnostics").expect("a table");
    let places: Vec<_> = (0..table.len())
        .map(|row| table.place(row).map(|at| at.offset))
        .collect();
    assert_eq!(places, expected);
}

/// Findings of a member that has to be unpacked count in what it unpacks to; what is wrong with how it is packed has the file's place.
#[test]
fn findings_of_an_unpacked_member_are_told_in_its_own_coordinates() {
    let cubin = common::bytes("own/overlapping-sections.cubin");
    let expected: Vec<_> = open(cubin.clone()).findings().all();
    let deflated = miniz_oxide::deflate::compress_to_vec(&cubin, 6);
    // RFC 1952: 10 bytes of header, then the data; a checksum that is not theirs, and their size.
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    let size = (cubin.len() as u32).to_le_bytes();
    let document = open([&header[..], &deflated, &[0; 4], &size].concat());
    let mut member = document.open_member(0).expect("a cubin");
    member.check_all();
    let found = member.findings().all();
    assert!(found[0].message.contains("CRC-32"), "{}", found[0]);
    assert_eq!(
        (found[0].offset, found[0].context.as_deref()),
        (Some(10 + deflated.len() as u64), Some("member 0"))
    );
    assert_eq!(found[1..], expected);
    // An entry of a compressed bundle that ends before it does: the place of the bundle in the file, and where that is in it.
    let path = "amdgpu/con/three.ccob-v3-zstd.hipfb";
    let bundle = all(&common::open(path).open_member(0).expect("a bundle"));
    let mut wrong = bundle.clone();
    wrong[0x5e..0x66].fill(0xff);
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&wrong, 6);
    let (version, method) = (3_u16.to_le_bytes(), 0_u16.to_le_bytes());
    let whole = (packed.len() as u64 + 32).to_le_bytes();
    let size = (wrong.len() as u64).to_le_bytes();
    let file = [
        b"CCOB",
        &version[..],
        &method,
        &whole,
        &size,
        &[0; 8],
        &packed,
    ]
    .concat();
    let document = open(file);
    let finding = &document.findings().all()[0];
    assert_eq!(finding.offset, Some(32), "{finding}");
    let context = finding.context.as_deref().unwrap_or_default();
    assert!(
        context.starts_with("inside 0 at 0x56: bundle entry"),
        "{finding}"
    );
}

#[test]
fn files_for_macos_have_the_sections_of_both_vendors() {
    let facts = facts();
    let is_there = |document: &Document, prefix: &str, start: u64, sections: &Value| {
        let of = |segment: &str, name: &str| {
            let mut sections = sections.as_array().expect("sections").iter();
            let found = sections.find(|s| s["segment"] == segment && s["name"] == name);
            let found = found.expect("a section");
            start + found["offset"].as_u64().expect("an offset")
        };
        // What clang was given.
        for (path, file) in [
            ("0", "container/kinds.fatbin"),
            ("1", "container/concat.fatbin"),
        ] {
            let opened = document.open_path(&format!("{prefix}{path}"));
            assert_eq!(all(&opened.expect(path)), common::bytes(file), "{path}");
        }
        let paths = paths(document);
        let at = |path: &str| {
            let index = paths
                .iter()
                .position(|known| *known == format!("{prefix}{path}"));
            &document.contents().members[index.expect(path)]
        };
        assert_eq!(at("0").span.offset, of("__NV_CUDA", "__nv_fatbin"));
        assert_eq!(
            at("0").kind,
            MemberKind::Word("__NV_CUDA,__nv_fatbin".into())
        );
        assert_eq!(at("2").header.offset, of("__HIP", "__hip_fatbin"));
        assert_eq!(at("2").kind, MemberKind::Word("__HIP,__hip_fatbin".into()));
        for (segment, record) in [
            ("__NV_CUDA", "fatbin wrapper"),
            ("__HIP", "wrapper of a bundle"),
        ] {
            let parts = document.locate(of(segment, "__fatbin")).parts;
            assert_eq!(parts[0].name, record);
        }
    };
    let path = "container/macho.o";
    let document = common::open(path);
    assert_eq!(document.format(), Format::Macho);
    assert_eq!(findings(&document), [""; 0]);
    is_there(&document, "", 0, &facts[path]["sections"]);
    let record = &document.locate(0x10).records[0];
    assert_eq!(
        (&*record.name, record.number("filetype")),
        ("mach_header", 1)
    );
    let path = "container/universal.dylib";
    let document = common::open(path);
    assert_eq!(document.format(), Format::Macho);
    assert_eq!(findings(&document), [""; 0]);
    let sections = facts[path]["sections"].as_object().expect("machines");
    for (machine, sections) in sections {
        let members = &document.contents().members;
        let member = members.iter().find(|member| *member.name == **machine);
        let member = member.expect(machine);
        assert_eq!(member.format, Format::Macho);
        is_there(
            &document,
            &format!("{machine}!/"),
            member.span.offset,
            sections,
        );
    }
    assert_eq!(sections.len(), 2);
    // A class of Java begins alike: the version that stands where the number of files would is 52.
    let class = [b"\xca\xfe\xba\xbe\0\0\0\x34", &[0; 100][..]].concat();
    assert_eq!(open(class).format(), Format::Unknown);
}

#[test]
fn compressed_files_of_several_parts_are_read_to_their_end() {
    let path = "container/several.gz";
    let document = common::open(path);
    let member = document.open_member(0).expect("a fatbin");
    let file = &facts()[path]["files"][0];
    assert_eq!(sha256(&all(&member)), file["sha256"]);
    assert_eq!(member.format(), Format::Fatbin);
    // The last bytes are the word "behind".
    let behind = common::bytes(path).len() - b"behind".len();
    assert_eq!(
        findings(&member),
        [format!(
            "bytes behind the compressed data are not read (member 0) at 0x{behind:x}"
        )]
    );
    // Two frames with one between that is skipped (RFC 8878, 3.1.2), and bytes behind.
    let one = common::bytes("container/kinds.zst");
    let skipped = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let fatbin = common::bytes("container/kinds.fatbin");
    for (behind, count) in [(&b""[..], 0), (b"behind", 1)] {
        let document = open([&one, &skipped[..], &one, behind].concat());
        let member = document.open_member(0).expect("two fatbins");
        assert_eq!(all(&member), [&fatbin[..], &fatbin].concat());
        let said = findings(&member);
        let said = said
            .iter()
            .filter(|finding| finding.contains("behind the compressed"));
        assert_eq!(said.count(), count);
    }
}

/// Files that are found wherever they lie, by what is known of them: format, and how long they are without what follows.
mod carving {
    use super::common::{self, Random};
    use super::{Document, Format, Source, all, findings, member, open};
    use kernelscope::container::MemberKind;

    /// Looks through all of a file, in steps of an odd size.
    fn carve(bytes: Vec<u8>) -> Document {
        let mut document = Document::open(Source::memory(bytes));
        while !document.carve(77_777).finished {}
        document
    }

    /// Bytes of no format, in which no magic begins.
    fn noise(size: usize, random: &mut Random) -> Vec<u8> {
        (0..size).map(|_| 0x80 | random.below(64) as u8).collect()
    }

    /// The fixtures that a loader or a vendor's tool opens.
    fn fixtures() -> Vec<(String, Format)> {
        let folders = [
            "nvidia/cubin",
            "nvidia/fatbin",
            "amdgpu/out",
            "amdgpu/own",
            "amdgpu/linked",
            "amdgpu/con",
            "container",
        ];
        let files = common::all(&folders).into_iter().map(|path| {
            let format = common::open(&path).format();
            (path, format)
        });
        let carried = |format: &Format| {
            use Format::*;
            matches!(
                format,
                Cubin | Amdgpu | Fatbin | OffloadBundle | OffloadBinary
            )
        };
        files.filter(|(_, format)| carried(format)).collect()
    }

    #[test]
    fn what_lies_in_any_file_is_found_whole() {
        let mut random = Random(5);
        let mut bytes = noise(1001, &mut random);
        let mut expected = Vec::new();
        for (path, format) in fixtures() {
            let file = common::bytes(&path);
            expected.push((path, format, bytes.len() as u64, file.clone()));
            bytes.extend(file);
            let gap = 1 + random.below(300) as usize;
            bytes.extend(noise(gap, &mut random));
        }
        let size = bytes.len() as u64;
        let document = carve(bytes);
        let contents = document.contents();
        let outer = (0..).zip(&contents.members);
        let found: Vec<_> = outer.filter(|(_, member)| member.depth == 0).collect();
        for (path, format, offset, file) in &expected {
            let at = found
                .iter()
                .position(|(_, member)| member.span.offset == *offset);
            let at = at.unwrap_or_else(|| panic!("{path} is not found"));
            let (index, member) = found[at];
            assert_eq!(member.format, *format, "{path}");
            assert_eq!(&*member.name, format!("0x{offset:x}"), "{path}");
            assert_eq!(member.kind, MemberKind::Word("carved".into()));
            let end = offset + file.len() as u64;
            // Files of several begin with the first, and the others are behind it; a bundle of version 1 does not say where it ends.
            let several = ["container/two.fatbin", "amdgpu/con/packed.bin"];
            if path.contains("ccob-v1") {
                assert!(member.span.end() >= end, "{path}");
            } else if several.contains(&path.as_str()) {
                let inner = found[at..].iter().map(|(_, member)| member.span);
                let inner: Vec<_> = inner.take_while(|span| span.offset < end).collect();
                assert!(inner.len() > 1, "{path}");
                assert_eq!(inner.last().map(|span| span.end()), Some(end), "{path}");
            } else {
                assert_eq!(member.span.end(), end, "{path}");
                // It opens as it does alone.
                let opened = document.open_member(index).expect(path);
                assert_eq!(all(&opened), *file, "{path}");
                assert_eq!(opened.target(), common::open(path).target(), "{path}");
                let known = opened.contents().members.len();
                assert_eq!(known, common::open(path).contents().members.len(), "{path}");
            }
        }
        assert_eq!(found.len(), expected.len() + 3);
        // The map covers the file, and knows whose the bytes are.
        let covered: u64 = document.leaves().iter().map(|leaf| leaf.span.size).sum();
        assert_eq!(covered, size);
        for (_, _, offset, _) in &expected {
            let parts = document.locate(*offset).parts;
            let name = format!("0x{offset:x}");
            assert!(parts.iter().any(|part| part.name == name), "{parts:?}");
        }
        assert_eq!(
            document.verdict().text.split(" · ").next(),
            Some("carries GPU code")
        );
    }

    #[test]
    fn what_is_known_is_not_found_again() {
        for path in common::all(common::EVERY) {
            let bytes = common::bytes(&path);
            // An entry of this bundle is said to be somewhere else than it is: there it is found.
            if path == "amdgpu/mal/bundle-entry-past.hipfb" {
                assert_eq!(carve(bytes).contents().members.len(), 5);
                continue;
            }
            let known = Document::open(Source::memory(bytes.clone()));
            let document = carve(bytes);
            let paths = super::paths(&document);
            let count = known.contents().members.len();
            assert_eq!(paths[..count], super::paths(&known), "{path}");
            assert_eq!(findings(&document), findings(&known), "{path}");
            assert_eq!(paths.len(), count, "{path}: {:?}", &paths[count..]);
            assert_eq!(document.leaves().len(), known.leaves().len(), "{path}");
        }
    }

    #[test]
    fn members_that_are_known_stay_where_they_are() {
        // An archive with a library whose cubin no section tells of, behind two of its own fatbins.
        let cubin = common::bytes("nvidia/cubin/vadd.sm_90.12.8.cubin");
        let library = [common::bytes("container/library.dll"), cubin.clone()].concat();
        let before = open(library.clone());
        let start = (library.len() - cubin.len()) as u64;
        let document = carve(library.clone());
        let count = before.contents().members.len();
        let contents = document.contents();
        assert_eq!(contents.members.len(), count + 1);
        let found = &contents.members[count];
        assert_eq!((found.span.offset, found.parent), (start, None));
        assert_eq!(found.target.as_deref(), Some("sm_90"));
        assert_eq!(found.next as usize, count + 1);
        assert_eq!(member(&document, count), cubin);
        for (index, known) in before.contents().members.iter().enumerate() {
            let now = &contents.members[index];
            assert_eq!(
                (&now.name, now.span, now.next),
                (&known.name, known.span, known.next)
            );
            // What is packed lies nowhere, an entry of no bytes in nothing.
            if known.base.is_some() || known.span.size == 0 {
                continue;
            }
            let located = |document: &Document| {
                let parts = document.locate(known.span.offset).parts;
                parts.into_iter().map(|part| part.name).collect::<Vec<_>>()
            };
            assert_eq!(located(&document), located(&before));
        }
        // It has a path, whether the file was looked through or not; and in a member, too.
        let path = format!("0x{start:x}");
        for document in [&document, &before] {
            assert_eq!(all(&document.open_path(&path).expect("a cubin")), cubin);
            for wrong in [
                "0x0",
                &format!("0x{:x}", start + 1),
                &format!("0x0{start:x}"),
            ] {
                assert!(document.open_path(wrong).is_err(), "{wrong}");
            }
        }
        let header = format!(
            "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            "a.dll/",
            0,
            0,
            0,
            644,
            library.len()
        );
        let archive = [b"!<arch>\n", header.as_bytes(), &library].concat();
        let inner = open(archive.clone()).open_path(&format!("a.dll!/{path}"));
        assert_eq!(all(&inner.expect("a cubin")), cubin);
        let carved = carve(archive);
        let last = carved.contents().members.last().expect("a cubin");
        assert_eq!(&*last.name, format!("0x{:x}", 68 + start));
    }

    #[test]
    fn a_magic_that_holds_nothing_is_not_listed() {
        let mut random = Random(6);
        let magics: [&[u8]; 5] = [
            b"\x7fELF\x02\x01\x01",
            b"\x50\xed\x55\xba\x01\0\x10\0",
            b"__CLANG_OFFLOAD_BUNDLE__",
            b"CCOB\x02\0\x01\0",
            b"\x10\xff\x10\xad\x01\0\0\0",
        ];
        let mut bytes = Vec::new();
        for magic in magics {
            for _ in 0..500 {
                bytes.extend(magic);
                bytes.extend((0..random.below(200)).map(|_| random.below(256) as u8));
            }
        }
        assert_eq!(carve(bytes).contents().members.len(), 0);
        // Cut off anywhere, a file is none; nor with a table that is somewhere else.
        for (path, _) in fixtures() {
            let file = common::bytes(&path);
            if path.contains("ccob-v1")
                || path.contains("two.fatbin")
                || path.contains("packed.bin")
            {
                continue;
            }
            for cut in [file.len() - 1, file.len() / 2, 70, 20] {
                let document = carve([b"....", &file[..cut]].concat());
                let members = document.contents().members.iter();
                let outer: Vec<_> = members.filter(|member| member.span.offset == 4).collect();
                assert!(outer.is_empty(), "{path} cut at {cut}: {outer:?}");
            }
        }
    }

    #[test]
    fn a_file_of_magics_ends() {
        // Each header of 64 bytes says that the 4 MiB behind it are its sections, and that segments are 0 bytes each.
        let mut header = [0; 64];
        header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        header[18] = 190;
        header[32] = 1;
        header[40..42].copy_from_slice(&[0x20, 1]);
        header[56] = 1;
        header[52] = 64;
        header[58] = 64;
        header[60..64].copy_from_slice(&[0xff, 0xff, 0, 0]);
        let document = carve([b"....", &header.repeat(1 << 17)[..]].concat());
        let said = document.findings().iter();
        let too_long = said.filter(|finding| finding.message.contains("too long"));
        assert_eq!(too_long.count(), 1, "{:?}", findings(&document));
    }

    #[cfg(feature = "cli")]
    #[test]
    fn the_terminal_looks_through_files_when_it_is_asked() {
        let cubin = common::bytes("nvidia/cubin/vadd.sm_90.12.8.cubin");
        let name = format!("kernelscope-carve-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("driver");
        std::fs::write(&file, [&[7; 100][..], &cubin, &[7; 9]].concat()).expect("a file");
        let file = file.display().to_string();
        let run = |arguments: &[&str]| -> serde_json::Value {
            let output = common::kernelscope(arguments);
            serde_json::from_slice(&output.stdout).expect("JSON")
        };
        assert_eq!(run(&["ls", &file, "--json"]), serde_json::json!([]));
        // What is no file that is known is an error, unless it has code: that it begins as none does is a note then.
        let ends = |arguments: &[&str]| common::kernelscope(arguments).status.code();
        assert_eq!(ends(&["ls", &file]), Some(1));
        assert_eq!(ends(&["ls", &file, "--carve"]), Some(0));
        let report = run(&["report", &file, "--carve", "--json"]);
        assert_eq!(report["verdict"]["severity"], "note");
        assert_eq!(report["verdict"]["text"], "carries GPU code · 1 finding");
        let listed = run(&["ls", &file, "--carve", "--json"]);
        assert_eq!(listed[0]["path"], "0x64");
        assert_eq!(listed[0]["kind"], "carved");
        assert_eq!(listed[0]["size"], cubin.len());
        assert_eq!(
            run(&["archs", &file, "--carve", "--json"])[0]["target"],
            "sm_90"
        );
        let kernels = run(&["kernels", &file, "--all", "--carve", "--json"]);
        assert_eq!(kernels[0]["name"], "_Z4vaddPKfS0_Pfi");
        let out = folder.join("out");
        let out = out.display().to_string();
        let written = run(&["extract", &file, "--all", "--carve", "-o", &out, "--json"]);
        let written = written[0]["file"].as_str().expect("a name").to_owned();
        let bytes = std::fs::read(folder.join("out").join(&written)).expect("the cubin");
        assert_eq!(bytes, cubin, "{written}");
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }
}

/// What the columns of a row have, as text.
fn row(table: &dyn kernelscope::rows::Table, row: u64, keys: &[&str]) -> Vec<String> {
    let unit = kernelscope::rows::Unit::Number;
    keys.iter()
        .map(|key| table.cell(row, key).text(unit).into_owned())
        .collect()
}

/// A zip file of one stored file, without a checksum that anything is held against where there is nothing to unpack.
fn stored(name: &str, bytes: &[u8]) -> Vec<u8> {
    zip(name, 0, bytes, 0, bytes.len())
}

/// A zip file of one deflated file.
fn deflated(name: &str, bytes: &[u8]) -> Vec<u8> {
    let packed = miniz_oxide::deflate::compress_to_vec(bytes, 1);
    let sum = kernelscope::unpack::crc32(0, bytes);
    zip(name, 8, &packed, sum, bytes.len())
}

/// A zip file of one file, by APPNOTE.TXT: a local header, a central one, the end.
fn zip(name: &str, method: u8, bytes: &[u8], sum: u32, size: usize) -> Vec<u8> {
    let le = |number: usize| (number as u32).to_le_bytes();
    let sizes = [&sum.to_le_bytes()[..], &le(bytes.len()), &le(size)].concat();
    let names = [&(name.len() as u16).to_le_bytes()[..], &[0; 2]].concat();
    let local = [
        b"PK\x03\x04",
        &[0, 0, 0, 0, method, 0, 0, 0, 0, 0][..],
        &sizes,
        &names,
        name.as_bytes(),
        bytes,
    ]
    .concat();
    let central = [
        b"PK\x01\x02",
        &[0, 0, 0, 0, 0, 0, method, 0, 0, 0, 0, 0][..],
        &sizes,
        &names,
        &[0; 14],
        name.as_bytes(),
    ]
    .concat();
    let end = [
        b"PK\x05\x06",
        &[0, 0, 0, 0, 1, 0, 1, 0][..],
        &le(central.len()),
        &le(local.len()),
        &[0; 2],
    ];
    [&local[..], &central, &end.concat()].concat()
}

/// A gzip file of stored blocks (RFC 1951, 3.2.4; RFC 1952), whose checksum is left out: it is a finding, and nothing else.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    let count = bytes.chunks(0xffff).count();
    for (i, block) in bytes.chunks(0xffff).enumerate() {
        let size = block.len() as u16;
        packed.push(u8::from(i + 1 == count));
        packed.extend(size.to_le_bytes());
        packed.extend((!size).to_le_bytes());
        packed.extend(block);
    }
    packed.extend([0; 4]);
    packed.extend((bytes.len() as u32).to_le_bytes());
    packed
}

/// What cuobjdump says of `both` in the program of two fatbins: 17 registers for sm_75 in facts.json.
#[test]
fn kernels_of_packed_libraries_are_found_with_their_paths() {
    let program = common::bytes(PROGRAM);
    let plain = surveyed(open(program.clone()));
    let packed = surveyed(open(stored("lib.so.gz", &gzip(&program))));
    let tables = |document: &Document| {
        let found = document.table("all_kernels").expect("a table");
        let keys = ["name", "target", "registers", "shared_bytes"];
        let rows: Vec<_> = (0..found.len()).map(|at| row(&*found, at, &keys)).collect();
        let archs = document.table("archs").expect("a table");
        let keys = ["target", "code", "count", "kernel_count"];
        let archs: Vec<_> = (0..archs.len()).map(|at| row(&*archs, at, &keys)).collect();
        (rows, archs)
    };
    assert!(tables(&plain).0.len() >= 4);
    assert_eq!(tables(&plain), tables(&packed));
    let found = packed.table("all_kernels").expect("a table");
    let first = row(&*found, 0, &["path", "name", "kernel"]);
    assert_eq!(first[0].split("!/").next(), Some("lib.so.gz"));
    // The path leads there.
    let member = packed.open_path(&first[0]).expect("a member");
    let kernels = member.table("kernels").expect("kernels");
    let index = first[2].parse().expect("an index");
    assert_eq!(
        kernels
            .cell(index, "name")
            .text(kernelscope::rows::Unit::Text),
        first[1]
    );
    // Found before anything is opened, the file has no code.
    assert!(
        open(stored("lib.so.gz", &gzip(&program)))
            .table("archs")
            .is_some_and(|archs| archs.is_empty())
    );
}

#[test]
fn what_is_declared_to_be_too_large_is_not_waited_for() {
    // 2 MiB of deflate may come to 1.5 GiB: 1032 times as much at most.
    for (path, is_code) in [
        (PROGRAM, false),
        ("nvidia/cubin/vadd.sm_90a.13.0.cubin", true),
    ] {
        let bytes = common::bytes(path);
        let mut packed = miniz_oxide::deflate::compress_to_vec(&bytes, 1);
        packed.resize(2 << 20, 0);
        let mut document = open(zip("large", 8, &packed, 0, 3 << 29));
        assert!(findings(&document)[0].contains("in a terminal it can be extracted to a folder"));
        let progress = document.survey(0);
        assert_eq!((progress.total, progress.total_bytes), (0, 0), "{path}");
        assert_eq!(progress.unread, 0, "{path}");
        let is_open = |document: &Document, table| {
            let table = document.table(table).expect("a table");
            (!table.is_empty()).then(|| table.cell(0, "is_open") == true.into())
        };
        // What is in it is not found out, so nothing is to come.
        assert_eq!(is_open(&document, "archs"), is_code.then_some(true));
        let document = surveyed(document);
        assert_eq!(is_open(&document, "archs"), is_code.then_some(true));
        // Nothing is opened, and nothing else said.
        assert_eq!(document.findings().len(), 1, "{:?}", findings(&document));
    }
    // What can be opened is: of the one nobody knows what is in it, of the others headers tell.
    let unread = |bytes| open(bytes).survey(0).unread;
    assert_eq!(unread(deflated("lib.so", &common::bytes(PROGRAM))), 1);
    assert_eq!(unread(common::bytes(PROGRAM)), 0);
}

fn surveyed(mut document: Document) -> Document {
    // Steps of any size end alike.
    while !document.survey(1).finished {}
    document
}

#[test]
fn kernels_are_counted_as_members_are_opened() {
    // vadd is the only kernel of each cubin (cuobjdump -elf), and each architecture is there twice.
    let one = common::bytes("nvidia/fatbin/vadd.3arch+ptx.none.13.5.fatbin");
    let mut document = open([&one[..], &one[..]].concat());
    let counts = |document: &Document| {
        let archs = document.table("archs").expect("a table");
        row(&*archs, 0, &["count", "kernel_count", "kernels_so_far"])
    };
    assert_eq!(counts(&document), ["2", "", "0"]);
    while counts(&document)[2] == "0" {
        assert!(!document.survey(1).finished);
    }
    assert_eq!(counts(&document), ["2", "", "1"]);
    assert_eq!(counts(&surveyed(document)), ["2", "2", "2"]);
}

#[test]
fn a_wrong_hash_is_told_once_of_all_that_is_in_it() {
    let document = surveyed(common::open("container/hash.hipfb"));
    let hashes = findings(&document).into_iter();
    let hashes: Vec<_> = hashes.filter(|finding| finding.contains("hash")).collect();
    assert_eq!(hashes.len(), 1, "{hashes:?}");
    assert!(hashes[0].contains("member 0"), "{hashes:?}");
    let member = document.open_member(2).expect("a member");
    assert!(member.findings().has_errors());
}

#[test]
fn kernels_stand_beside_each_other_by_name() {
    let facts = &common::facts("fatbins")
        .into_iter()
        .find(|(path, _)| path == PROGRAM)
        .expect("facts")
        .1;
    let document = surveyed(open(common::bytes(PROGRAM)));
    let across = document.table("across").expect("a table");
    let mut seen = 0;
    for entry in facts["entries"].as_array().expect("entries") {
        let Some(functions) = entry["functions"].as_object() else {
            continue;
        };
        let arch = entry["arch"].as_str().expect("an architecture");
        for (name, function) in functions {
            let at = (0..across.len()).find(|&at| row(&*across, at, &["name"])[0] == *name);
            let Some(at) = at else { continue };
            seen += 1;
            for key in ["registers", "stack_bytes", "shared_bytes"] {
                let cell = row(&*across, at, &[&format!("{arch}.{key}")]);
                assert_eq!(cell[0], function[key].to_string(), "{arch} {name} {key}");
            }
        }
    }
    assert!(seen >= 2);
    // The largest of a name's architectures; the first row of the table by registers has the most of all.
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let most = |at| number(&row(&*across, at, &["most_registers"])[0]);
    let first = document.table("across/1").expect("a table");
    assert_eq!(first.len(), 1);
    assert_eq!(
        number(&row(&*first, 0, &["most_registers"])[0]),
        (0..across.len()).map(most).max().unwrap_or(0)
    );
    let (path, kernel) = document
        .found_kernel(0, "sm_90.registers")
        .expect("a kernel");
    let member = document.open_path(&path).expect("a member");
    assert_eq!(member.target().as_deref(), Some("sm_90"));
    assert!(
        member
            .table("kernels")
            .is_some_and(|kernels| u64::from(kernel.expect("a row")) < kernels.len())
    );
    assert!(document.table("across/100000").is_none());
}

/// What is in no machine code has a row as well, and leads to the text, which says itself what it is for.
#[test]
fn kernels_that_only_ptx_has_have_rows() {
    let text = ".version 9.0\n.target sm_120\n.address_size 64\n.visible .entry alone() { ret; }\n";
    let document = surveyed(open(stored("alone.ptx", text.as_bytes())));
    let across = document.table("across").expect("a table");
    assert_eq!(across.len(), 1);
    let keys = ["name", "arch_count", "compute_120.ptx"];
    assert_eq!(row(&*across, 0, &keys), ["alone", "0", "PTX"]);
    assert_eq!(
        document.found_kernel(0, "name"),
        Some(("alone.ptx".into(), None))
    );
}

#[test]
fn members_packed_in_each_other_are_opened_to_a_bounded_depth() {
    let mut bytes = common::bytes("nvidia/cubin/vadd.sm_90a.13.0.cubin");
    for _ in 0..20 {
        bytes = gzip(&bytes);
    }
    let document = surveyed(open(bytes));
    assert!(
        document
            .table("all_kernels")
            .is_some_and(|kernels| kernels.is_empty())
    );
    let notes = document.findings().iter();
    let notes: Vec<_> = notes
        .filter(|finding| finding.message.contains("this deep"))
        .collect();
    assert_eq!(notes.len(), 1);
}

/// The cells of a table's column.
fn column(document: &Document, table: &str, key: &str) -> Vec<Cell<'static>> {
    let table = document.table(table).expect(table);
    let cells = (0..table.len()).map(|row| match table.cell(row, key) {
        Cell::Text(text) => Cell::Text(text.into_owned().into()),
        Cell::Int(value) => Cell::Int(value),
        Cell::Bool(value) => Cell::Bool(value),
        Cell::None => Cell::None,
    });
    cells.collect()
}

fn number(cell: &Cell<'_>) -> i128 {
    match cell {
        Cell::Int(value) => *value,
        other => panic!("{other:?} is no number"),
    }
}

/// Whether the rows of each row add up to it, stored and unpacked as far as that is known, and all of it to the file's size.
fn adds_up(document: &Document, what: &str) {
    let of = |key: &str| column(document, "size", key);
    let [stored, next, depth] =
        ["stored_size", "next", "depth"].map(|key| of(key).iter().map(number).collect::<Vec<_>>());
    let size = of("size");
    assert_eq!(stored[0], i128::from(document.source().size()), "{what}");
    for row in 0..stored.len() {
        let inner = row + 1..next[row] as usize;
        let direct = inner.clone().filter(|&i| depth[i] == depth[row] + 1);
        if inner.is_empty() {
            continue;
        }
        let sum: i128 = direct.clone().map(|i| stored[i]).sum();
        assert_eq!(sum, stored[row], "{what}: row {row}");
        if direct.clone().all(|i| size[i] != Cell::None) {
            let sum: i128 = direct.clone().map(|i| number(&size[i])).sum();
            assert_eq!(sum, number(&size[row]), "{what}: row {row} unpacked");
        } else {
            assert_eq!(size[row], Cell::None, "{what}: row {row} unpacked");
        }
        // And the table of what is in it has these.
        let within = column(document, &format!("size/{row}"), "row");
        let within: Vec<usize> = within.iter().map(|cell| number(cell) as usize).collect();
        assert_eq!(within, direct.collect::<Vec<_>>(), "{what}: row {row}");
    }
}

/// Whether sizes add up before members are opened, with each step, and when all are.
fn always_adds_up(mut document: Document, what: &str) -> Document {
    adds_up(&document, what);
    while !document.survey(1).finished {
        if document.contents().members.len() < 16 {
            adds_up(&document, what);
        }
    }
    adds_up(&document, what);
    document
}

#[test]
fn sizes_add_up_to_the_file() {
    let mut count = 0;
    for path in common::all(common::EVERY) {
        let document = common::open(&path);
        if document.table("size").is_none() {
            continue;
        }
        count += 1;
        always_adds_up(document, &path);
        // As a wheel has it: what is in it is known once it was unpacked.
        let bytes = common::bytes(&path);
        if bytes.len() < 1 << 16 {
            always_adds_up(open(deflated("a.so", &bytes)), &path);
        }
    }
    assert!(count > 100, "{count} fixtures");
}

#[test]
fn sizes_of_packed_files_add_up_whatever_they_say() {
    let mut random = common::Random(7);
    for path in [
        "container/kinds.fatbin",
        "container/stripped.o",
        "container/gnu.a",
        "container/v2.hipfb",
        "amdgpu/con/three.ccob-v3-zstd.hipfb",
    ] {
        let bytes = common::bytes(path);
        for _ in 0..40 {
            let mut bytes = bytes.clone();
            for _ in 0..3 {
                let at = random.below(bytes.len().min(4096) as u64) as usize;
                bytes[at] = random.below(256) as u8;
            }
            let cut =
                bytes.len() - random.below(2) as usize * random.below(bytes.len() as u64) as usize;
            let document = open(deflated("a.so", &bytes[..cut]));
            always_adds_up(document, path);
            always_adds_up(open(gzip(&stored("a.so.gz", &gzip(&bytes)))), path);
        }
    }
}

#[test]
fn packed_libraries_are_called_as_those_that_are_not() {
    let program = common::bytes(PROGRAM);
    let plain = open(program.clone());
    assert_eq!(plain.verdict().text, "carries GPU code · no findings");
    let facts = plain.facts();
    let code: Vec<&String> = facts
        .iter()
        .filter(|fact| fact.contains(" for sm_"))
        .collect();
    assert!(!code.is_empty(), "{facts:?}");
    let wheel = deflated("lib.so", &program);
    for bytes in [deflated("a.whl", &wheel), wheel] {
        let document = open(bytes);
        assert_eq!(document.verdict().text, "recognised · no findings");
        let document = surveyed(document);
        assert_eq!(document.verdict().text, "carries GPU code · no findings");
        assert!(code.iter().all(|fact| document.facts().contains(fact)));
    }
    // Without any code it stays what it was.
    let text = surveyed(open(deflated("lib.so", b"no code")));
    assert_eq!(text.verdict().text, "recognised · no findings");
}

#[test]
fn a_survey_never_goes_back() {
    let program = common::bytes(PROGRAM);
    let library = deflated("lib.so", &program);
    for bytes in [
        common::bytes("container/package.whl"),
        common::bytes("container/kinds.fatbin"),
        library.clone(),
        gzip(&library),
        gzip(&stored("a.zip", &gzip(&library))),
    ] {
        let mut document = open(bytes);
        let first = document.survey(0);
        assert_eq!((first.done, first.bytes), (0, 0));
        let mut before = first;
        while !before.finished {
            let progress = document.survey(1 << 10);
            assert!(
                progress.bytes >= before.bytes,
                "{progress:?} after {before:?}"
            );
            assert_eq!(progress.total_bytes, first.total_bytes);
            assert!(progress.total >= before.total && progress.done >= before.done);
            before = progress;
        }
        assert_eq!(before.bytes, first.total_bytes);
        assert_eq!(before.done, before.total);
    }
    // A packed library is half done when it is unpacked, before the first member of it is open.
    let mut document = open(library);
    let total = document.survey(0).total_bytes;
    assert_eq!(total, program.len() as u64);
    let halves = std::iter::from_fn(|| Some(document.survey(1)).filter(|of| !of.finished));
    let unpacked = halves.into_iter().find(|progress| progress.done == 1);
    assert_eq!(
        unpacked.map(|progress| progress.bytes),
        Some(total - total / 2)
    );
}

#[test]
fn packed_libraries_are_divided_as_those_that_are_not() {
    let program = common::bytes(PROGRAM);
    let plain = surveyed(open(program.clone()));
    let wheel = deflated("lib.so", &program);
    let [whole, packed] = {
        let document = open(wheel.clone());
        let member = &document.contents().members[0];
        [member.unpacked.expect("a size"), member.span.size].map(u128::from)
    };
    assert_eq!(whole, program.len() as u128);
    let share = |part: u128, whole: u128, packed: u128| part * packed / whole;
    // In a zip file that is packed, too: its share of the share.
    let zip = stored("lib.so.gz", &gzip(&program));
    let gz = gzip(&zip);
    // RFC 1952: 10 bytes before the data, and 8 behind it, which may still be of the data.
    let [zip_size, inner_size, outer_size] = [zip.len(), gzip(&program).len() - 10, gz.len() - 18];
    let [zip_size, inner_size, outer_size] =
        [zip_size, inner_size, outer_size].map(|of| of as u128);
    let cases: [(_, _, &dyn Fn(u128) -> u128); 2] = [
        (wheel, "lib.so!/", &|part| share(part, whole, packed)),
        (gz, "0!/lib.so.gz!/0!/", &|part| {
            share(share(part, whole, inner_size), zip_size, outer_size)
        }),
    ];
    for (bytes, around, taken) in cases {
        let mut document = open(bytes);
        // One row of the library, until it is known what is in it.
        let names = column(&document, "size", "is_member");
        let members =
            |names: &[Cell<'_>]| names.iter().filter(|is| **is == Cell::Bool(true)).count();
        assert_eq!(members(&names), 1);
        document = always_adds_up(document, around);
        let of = |document: &Document, path: &str| -> Vec<Vec<String>> {
            let table = document.table("size").expect("a table");
            let is_it = |&at: &u64| {
                table.cell(at, "name") == path.into()
                    && table.cell(at, "is_member") == Cell::Bool(true)
            };
            let at = (0..table.len()).find(is_it).expect(path);
            let [first, next] = [at, number(&table.cell(at, "next")) as u64];
            let keys = ["what", "size", "role", "kernel_count"];
            let mut rows: Vec<_> = (first..next).map(|at| row(&*table, at, &keys)).collect();
            let name = |at| row(&*table, at, &["name"]);
            rows.extend((first + 1..next).map(name));
            rows.push(row(&*table, first, &["stored_size"]));
            rows
        };
        let mut left = whole;
        for (index, member) in (0..).zip(&plain.contents().members) {
            if member.children > 0 {
                continue;
            }
            let path = plain.contents().path(index);
            let mut expected = of(&plain, &path);
            let part = u128::from(member.span.size);
            left -= part;
            *expected.last_mut().expect("a row") = vec![taken(part).to_string()];
            assert_eq!(of(&document, &format!("{around}{path}")), expected);
        }
        // What is no code is the rest; and the architectures have the same figures.
        let table = document.table("size").expect("a table");
        let rows = |keys: &[&str]| -> Vec<_> {
            (0..table.len()).map(|at| row(&*table, at, keys)).collect()
        };
        // Of gzip the trailer counts in the architectures, and beside the member here.
        if around != "lib.so!/" {
            continue;
        }
        let rest = vec!["everything else".into(), left.to_string()];
        assert!(rows(&["name", "size"]).contains(&rest));
        let keys = ["target", "code", "stored_size", "size", "kernel_count"];
        let archs = document.table("archs").expect("a table");
        for at in 0..archs.len() {
            let mut arch = row(&*archs, at, &keys);
            if arch[1] != "machine code" {
                arch[4].clear();
            }
            let rows = rows(&["name", "what", "stored_size", "size", "kernel_count"]);
            assert!(rows.contains(&arch), "{arch:?}");
        }
    }
}

#[test]
fn what_a_fatbin_rounds_a_cubin_up_by_is_a_row() {
    // An entry of version 1.1 with a header of 64 bytes; the cubin is three bytes longer than its headers say.
    let cubin = common::bytes("nvidia/cubin/vadd.sm_90.12.8.cubin");
    let size = cubin.len() as u64 + 3;
    let mut entry = vec![0; 64];
    entry[..8].copy_from_slice(&[2, 0, 1, 1, 64, 0, 0, 0]);
    entry[8..16].copy_from_slice(&size.to_le_bytes());
    entry[28] = 90;
    let header = [
        &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0][..],
        &(size + 64).to_le_bytes(),
    ]
    .concat();
    let document = open([&header[..], &entry, &cubin, &[0; 3]].concat());
    let document = always_adds_up(document, "a padded cubin");
    let table = document.table("size").expect("a table");
    let keys = ["name", "what", "stored_size", "size", "role"];
    let rows = (0..table.len()).map(|at| row(&*table, at, &keys));
    let rows: Vec<_> = rows.filter(|row| row[0] == "alignment").collect();
    // It is no part of what is opened.
    assert_eq!(rows, [["alignment", "part", "3", "0", "padding"]]);
}

#[test]
fn members_that_are_stored_again_are_found() {
    // The same fatbin twice, one behind the other: what cuobjdump extracts of the one is in the other.
    let one = common::bytes("container/two.fatbin");
    let mut document = open([&one[..], &one[..]].concat());
    while !document.survey(u64::MAX).finished {}
    adds_up(&document, "two.fatbin, twice");
    // Its entries as cuobjdump lists their sizes; the IR for linking is obfuscated, and is not unpacked.
    let wasted = column(&document, "size", "wasted_bytes");
    assert_eq!(number(&wasted[0]), 946 + 1277 + 263 + 897);
    // Two of the four are cubins that are packed together.
    let same = column(&document, "size", "same_as");
    assert_eq!(same.iter().filter(|cell| **cell != Cell::None).count(), 5);
}

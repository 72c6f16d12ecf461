//! Code and its lines, held against what NVIDIA's disassemblers list of them (`code.json`).

mod common;

use common::Random;
use kernelscope::record::hex;
use kernelscope::rows::{Cell, Table, Unit};
use kernelscope::{Document, Source};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What is listed of the fixtures; of other cubins where `KERNELSCOPE_CODE` names what `record_code.py --facts` wrote.
fn facts() -> serde_json::Map<String, Value> {
    let path = std::env::var("KERNELSCOPE_CODE").unwrap_or("code.json".into());
    let text = String::from_utf8(common::bytes(&path)).expect("text");
    serde_json::from_str(&text).expect("facts")
}

/// The table of the instructions of the kernel called `name`.
fn instructions<'a>(document: &'a Document, name: &str) -> Box<dyn Table + 'a> {
    let kernels = document.table("kernels").expect("kernels");
    let kernel = (0..kernels.len()).find(|&row| kernels.cell(row, "name") == name.into());
    let kernel = kernel.unwrap_or_else(|| panic!("no kernel {name}"));
    document.table(&format!("code/{kernel}")).expect("code")
}

fn text(table: &dyn Table, row: u64, key: &str) -> String {
    table.cell(row, key).text(Unit::Text).into_owned()
}

fn number(table: &dyn Table, row: u64, key: &str) -> u64 {
    match table.cell(row, key) {
        Cell::Int(value) => value as u64,
        other => panic!("{key} of {row}: {other:?}"),
    }
}

/// For each slot of the reuse cache the lowest bit of the register that is kept in it, where the listings mark that. What the
/// slots are follows from the operands, which stand in other places than their own where one is not a register.
fn slots(opcode: u64, is_long: bool) -> [Option<u32>; 4] {
    if is_long {
        return match (opcode & 0x1ff, opcode >> 9) {
            // Textures: no mark is printed.
            (0x160..=0x16f, 5) => [None; 4],
            // DSETP, HADD2, HSETP2: the second operand is the third slot's.
            (0x2a | 0x30 | 0x34, 1) => [Some(24), None, Some(32), None],
            // SEL.64, whose operands are all registers.
            (0x07, 3) => [Some(24), Some(32), None, None],
            // A value or a constant as the third operand is in the second's place, the second in its.
            (_, 2 | 3) => [Some(24), Some(64), None, None],
            _ => [Some(24), Some(32), Some(64), None],
        };
    }
    match opcode {
        // Textures: no mark is printed.
        0xd00..=0xdff => [None; 4],
        // HADD2: the second operand is the third slot's.
        0x5d1 => [Some(8), None, Some(20), None],
        // A constant as the third operand is in the second's place, the second in its.
        0x510..=0x53f => [Some(8), Some(39), None, None],
        // IADD, ISCADD: two registers, and how far one is shifted.
        0x5c1 => [Some(8), Some(20), None, None],
        _ => [Some(8), Some(20), Some(39), None],
    }
}

/// The line of an instruction as `record_code.py` writes it, and how many registers it has marked.
fn canonical(document: &Document, table: &dyn Table, row: u64) -> (String, u64) {
    let mut words = text(table, row, "words");
    let word = |digits: &str| u128::from_str_radix(digits, 16).expect("a word");
    let bits = words
        .rsplit(' ')
        .fold(0, |bits, digits| bits << 64 | word(digits));
    let slots = slots(number(table, row, "opcode"), words.len() > 16);
    if let Some(control) = table.target(row) {
        let mut bytes = document.source().read(control).expect("bytes").to_vec();
        bytes.reverse();
        words += " ";
        words += &hex(&bytes);
    }
    let marks = text(table, row, "reuse");
    let kept = slots.iter().zip(marks.chars());
    let kept = kept.filter_map(|(slot, mark)| slot.filter(|_| mark != '-'));
    let registers: Vec<_> = kept
        .map(|bit| match bits >> bit & 0xff {
            0xff => "RZ".to_owned(),
            register => format!("R{register}"),
        })
        .collect();
    let or_dash = |text: String| if text.is_empty() { "-".into() } else { text };
    let guard = or_dash(text(table, row, "guard"));
    let offset = number(table, row, "offset");
    let marked = or_dash(registers.join(","));
    let line = format!("{offset:x} {words} {guard} {marked}\n");
    (line, registers.len() as u64)
}

#[test]
fn words_guards_and_reuse_are_those_of_the_listings() {
    let (mut count, mut reused, mut differences) = (0, 0, 0);
    for (path, functions) in facts() {
        let document = common::open(&path);
        for (name, fact) in functions.as_object().expect("functions") {
            let table = instructions(&document, name);
            assert_eq!(table.len(), fact["instructions"], "{path}: {name}");
            let mut marks = 0;
            let blocks = fact["sha256"].as_array().expect("blocks");
            for (block, listed) in blocks.iter().enumerate() {
                let start = block as u64 * 256;
                let rows = (start..table.len().min(start + 256)).map(|row| {
                    let (line, marked) = canonical(&document, &*table, row);
                    marks += marked;
                    line
                });
                let rows: String = rows.collect();
                if hex(&Sha256::digest(rows.as_bytes())[..8]) != *listed {
                    println!("{path}: {name}, the 256 from {start} on\n{rows}");
                    differences += 1;
                }
            }
            assert_eq!(marks, fact["reuse"], "{path}: {name}");
            count += table.len();
            reused += marks;
        }
    }
    println!("{count} instructions, {reused} registers marked");
    assert_eq!(differences, 0, "blocks of instructions differ");
    if std::env::var_os("KERNELSCOPE_CODE").is_none() {
        assert!(count > 70_000 && reused > 13_000, "{count}, {reused}");
    }
}

/// The line that is listed of the instruction at `offset`, by the changes that are listed; and whether it changes there.
fn listed(changes: &Value, offset: u64) -> Option<(&Vec<Value>, bool)> {
    let changes = changes.as_array().map_or(&[][..], Vec::as_slice).iter();
    let changes = changes.map(|change| change.as_array().expect("a change"));
    let last = changes.take_while(|change| change[0].as_u64() <= Some(offset));
    last.last().map(|change| (change, change[0] == offset))
}

#[test]
fn lines_are_those_of_the_listings() {
    let (mut lines, mut inlined, mut ptx) = (0, 0, 0);
    for (path, functions) in facts() {
        let document = common::open(&path);
        for (name, fact) in functions.as_object().expect("functions") {
            let table = instructions(&document, name);
            for row in 0..table.len() {
                let offset = number(&*table, row, "offset");
                let what = format!("{path}: {name} 0x{offset:x}");
                match listed(&fact["lines"], offset) {
                    None => assert_eq!(table.cell(row, "line"), Cell::None, "{what}"),
                    Some((change, is_new)) => {
                        assert_eq!(text(&*table, row, "path"), change[1], "{what}");
                        assert_eq!(number(&*table, row, "line"), change[2], "{what}");
                        lines += 1;
                        // Where only the place changes that it was inlined at the listing says nothing.
                        if is_new {
                            let file = |path: &Value| {
                                let path = path.as_str().expect("a path");
                                path.rsplit('/').next().expect("a name").to_owned()
                            };
                            let chain = change[3..].chunks(2);
                            let chain: Vec<_> = chain
                                .map(|place| format!("{}:{}", file(&place[0]), place[1]))
                                .collect();
                            let found = text(&*table, row, "inlined_at");
                            assert_eq!(found, chain.join(", "), "{what}");
                            inlined += chain.len();
                        }
                    }
                }
                match listed(&fact["ptx"], offset) {
                    None => assert_eq!(table.cell(row, "ptx_line"), Cell::None, "{what}"),
                    Some((change, _)) => {
                        assert_eq!(number(&*table, row, "ptx_line"), change[1], "{what}");
                        ptx += 1;
                    }
                }
            }
        }
    }
    assert!(
        lines > 900 && inlined > 15 && ptx > 900,
        "{lines} {inlined} {ptx}"
    );
}

#[test]
fn the_ptx_that_files_keep_is_read_by_lines() {
    // The listing of nvcc 13.5 begins with seven lines of comments, which are left out of the text and leave empty lines.
    let document = common::open("nvidia/cubin/inline.sm_90.13.5.nvcc-lineinfo.cubin");
    let texts = document.table("texts").expect("texts");
    assert_eq!(texts.len(), 1);
    assert_eq!(text(&*texts, 0, "name"), ".nv_debug_ptx_txt");
    let lines = document.table("text/0").expect("lines");
    assert_eq!(number(&*texts, 0, "lines"), lines.len());
    let find = |wanted: &str| {
        let line = (0..lines.len()).find(|&row| text(&*lines, row, "text") == wanted);
        line.unwrap_or_else(|| panic!("no line {wanted}"))
    };
    assert!(find(".version 9.5") < find(".target sm_90"));
    let place = lines.place(find(".target sm_90")).expect("a place");
    assert_eq!(
        document.source().read(place).expect("bytes"),
        b".target sm_90"
    );
    // The multiplication of two lines of source is one of PTX.
    let table = instructions(&document, "first");
    let multiply = |row: u64| {
        let line = number(&*table, row, "ptx_line");
        text(&*lines, line - 1, "text").starts_with("mul.f32")
    };
    assert_eq!((0..table.len()).filter(|&row| multiply(row)).count(), 1);

    let linked = common::open("nvidia/cubin/linked.sm_90.13.5.nvlink-lineinfo.cubin");
    assert_eq!(linked.texts().len(), 2);
    assert!(linked.table("text/2").is_none());
    assert!(
        common::open("nvidia/cubin/vadd.sm_90.12.8.cubin")
            .table("texts")
            .is_none()
    );
}

#[test]
fn the_bytes_of_an_instruction_lead_to_its_record() {
    // The first control word of vadd for sm_61 is 0x001cfc00e22007f6: stalls of 6, 1 and 15 cycles.
    let document = common::open("nvidia/cubin/vadd.sm_61.12.4.cubin");
    let table = instructions(&document, "_Z4vaddPKfS0_Pfi");
    for row in 0..3 {
        let place = table.place(row).expect("a place");
        let records = document.locate(place.offset).records;
        assert_eq!(records[0].layout, Some("SASS bundle (sm_50 to sm_62)"));
        assert_eq!(records[0].span.size, 32);
        let stalls = ["stall[0]", "stall[1]", "stall[2]"].map(|name| records[0].number(name));
        assert_eq!(stalls, [6, 1, 15]);
        assert!(records[0].gaps().is_empty());
    }
    let document = common::open("nvidia/cubin/vadd.sm_90.12.8.cubin");
    let table = instructions(&document, "_Z4vaddPKfS0_Pfi");
    let place = table.place(1).expect("a place");
    let record = &document.locate(place.offset + 15).records[0];
    assert_eq!(record.span, place);
    assert!(record.gaps().is_empty());
    let word = u64::from_str_radix(&text(&*table, 1, "words")[17..], 16).expect("a word");
    assert_eq!(record.number("stall"), word >> 41 & 15);
    assert_eq!(record.number("opcode"), number(&*table, 1, "opcode"));
}

/// Reads all of the tables of code and of text.
fn exercise(document: &Document) {
    for key in ["code", "text"] {
        for index in 0.. {
            let Some(table) = document.table(&format!("{key}/{index}")) else {
                break;
            };
            for row in 0..table.len().min(200) {
                for column in table.columns() {
                    table.cell(row, &column.key);
                }
            }
        }
    }
}

#[test]
fn line_programs_with_any_wrong_byte_are_read_as_far_as_they_go() {
    let mut random = Random(11);
    let mut told = 0;
    for name in ["inline.sm_90.13.5.nvcc-lineinfo", "shmem.sm_86.11.8.g"] {
        let path = format!("nvidia/cubin/{name}.cubin");
        let bytes = common::bytes(&path);
        let document = common::open(&path);
        let elf = document.elf().expect("ELF");
        let spans = [".debug_line", ".nv_debug_line_sass", ".nv_debug_ptx_txt"]
            .map(|name| elf.section_named(name).expect("a section").span());
        let step = if common::whole() { 1 } else { 3 };
        for span in &spans[..2] {
            for at in (span.offset..span.end()).step_by(step) {
                for value in [0, 0x7f, 0xff, random.below(256) as u8] {
                    let mut bytes = bytes.clone();
                    bytes[at as usize] = value;
                    let mut document = Document::open(Source::memory(bytes));
                    document.check_all();
                    exercise(&document);
                    let mut findings = document.findings().iter();
                    told += u64::from(findings.any(|f| f.message.contains("line program")));
                }
            }
        }
    }
    assert!(told > 20, "{told}");
}

#[test]
fn code_of_any_size_is_read() {
    for name in ["vadd.sm_61.12.4", "vadd.sm_90.12.8", "vadd.sm_35.11.8"] {
        let path = format!("nvidia/cubin/{name}.cubin");
        let bytes = common::bytes(&path);
        let document = common::open(&path);
        let elf = document.elf().expect("ELF");
        let code = elf.section_named(".text._Z4vaddPKfS0_Pfi").expect("code");
        // sh_size is 32 bytes into a section header of ELF64.
        let at = code.header as usize + 32;
        for size in (0..130).chain([code.size - 1, code.size + 1, u64::MAX]) {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&size.to_le_bytes());
            let mut document = Document::open(Source::memory(bytes));
            document.check_all();
            exercise(&document);
            if size < 130 && size % 64 != 0 {
                let mut findings = document.findings().iter();
                let told = findings.any(|f| f.message == "the code ends within an instruction");
                let bundle = if name.contains("sm_35") {
                    64
                } else if name.contains("sm_61") {
                    32
                } else {
                    16
                };
                assert_eq!(told, size % bundle != 0, "{name}: {size}");
            }
        }
    }
}

//! Dumps as text. What tools print of 80 bytes, word lists, arrays, the bursts of a descriptor, and what is said of text that is not
//! as it should be.

use kernelscope::document::Document;
use kernelscope::dump::{self, ByteOrder, Dump, DumpForm};
use kernelscope::error::Severity;
use kernelscope::source::Source;

/// The bytes that the tools below were given: 32 zeros, two words, text, 17 zeros, text, a word.
fn sample() -> Vec<u8> {
    let mut bytes = vec![0; 32];
    bytes.extend([0x7f, 0, 0, 0, 0, 0, 0, 0x3c]);
    bytes.extend(b"AB {,|}");
    bytes.extend([0; 17]);
    bytes.extend(b"tail of it!!\0\x10\0\0");
    bytes
}

fn read(text: &str) -> Dump {
    dump::read(text, None, None)
}

/// What is said of a dump: the line that it is about, and the sentence.
fn said(dump: &Dump) -> Vec<String> {
    let say = |finding: &kernelscope::error::Diagnostic| {
        let line = finding.context.as_deref().unwrap_or("whole");
        format!("{line}: {}", finding.message)
    };
    dump.findings.iter().map(say).collect()
}

/// What xxd 2024, hexdump and od of util-linux and coreutils, and gdb print of the sample, with the commands.
const PRINTED: &[(&str, &str)] = &[
    (
        "xxd",
        "00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000010: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000020: 7f00 0000 0000 003c 4142 207b 2c7c 7d00  .......<AB {,|}.
00000030: 0000 0000 0000 0000 0000 0000 0000 0000  ................
00000040: 7461 696c 206f 6620 6974 2121 0010 0000  tail of it!!....
",
    ),
    (
        "xxd -e",
        "00000000: 00000000 00000000 00000000 00000000  ................
00000010: 00000000 00000000 00000000 00000000  ................
00000020: 0000007f 3c000000 7b204241 007d7c2c  .......<AB {,|}.
00000030: 00000000 00000000 00000000 00000000  ................
00000040: 6c696174 20666f20 21217469 00001000  tail of it!!....
",
    ),
    (
        "xxd -g4",
        "00000000: 00000000 00000000 00000000 00000000  ................
00000010: 00000000 00000000 00000000 00000000  ................
00000020: 7f000000 0000003c 4142207b 2c7c7d00  .......<AB {,|}.
00000030: 00000000 00000000 00000000 00000000  ................
00000040: 7461696c 206f6620 69742121 00100000  tail of it!!....
",
    ),
    (
        "xxd -p",
        "000000000000000000000000000000000000000000000000000000000000
00007f0000000000003c4142207b2c7c7d00000000000000000000000000
000000007461696c206f66206974212100100000
",
    ),
    (
        "xxd -i",
        "unsigned char s_bin[] = {
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x3c, 0x41, 0x42, 0x20, 0x7b, 0x2c, 0x7c, 0x7d, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x74, 0x61, 0x69, 0x6c, 0x20, 0x6f, 0x66, 0x20,
  0x69, 0x74, 0x21, 0x21, 0x00, 0x10, 0x00, 0x00
};
unsigned int s_bin_len = 80;
",
    ),
    (
        "hexdump -C",
        "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
*
00000020  7f 00 00 00 00 00 00 3c  41 42 20 7b 2c 7c 7d 00  |.......<AB {,|}.|
00000030  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
00000040  74 61 69 6c 20 6f 66 20  69 74 21 21 00 10 00 00  |tail of it!!....|
00000050
",
    ),
    (
        "hexdump",
        "0000000 0000 0000 0000 0000 0000 0000 0000 0000
*
0000020 007f 0000 0000 3c00 4241 7b20 7c2c 007d
0000030 0000 0000 0000 0000 0000 0000 0000 0000
0000040 6174 6c69 6f20 2066 7469 2121 1000 0000
0000050
",
    ),
    (
        "od -tx4",
        "0000000 00000000 00000000 00000000 00000000
*
0000040 0000007f 3c000000 7b204241 007d7c2c
0000060 00000000 00000000 00000000 00000000
0000100 6c696174 20666f20 21217469 00001000
0000120
",
    ),
    (
        "od -A x -t x4z",
        "000000 00000000 00000000 00000000 00000000  >................<
*
000020 0000007f 3c000000 7b204241 007d7c2c  >.......<AB {,|}.<
000030 00000000 00000000 00000000 00000000  >................<
000040 6c696174 20666f20 21217469 00001000  >tail of it!!....<
000050
",
    ),
    (
        "od -A d -t x1",
        "0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
*
0000032 7f 00 00 00 00 00 00 3c 41 42 20 7b 2c 7c 7d 00
0000048 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0000064 74 61 69 6c 20 6f 66 20 69 74 21 21 00 10 00 00
0000080
",
    ),
    (
        "od -v -An -tx4",
        " 00000000 00000000 00000000 00000000
 00000000 00000000 00000000 00000000
 0000007f 3c000000 7b204241 007d7c2c
 00000000 00000000 00000000 00000000
 6c696174 20666f20 21217469 00001000
",
    ),
    (
        "gdb x/20xw",
        "0x0:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x10:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x20:\t0x0000007f\t0x3c000000\t0x7b204241\t0x007d7c2c
0x30:\t0x00000000\t0x00000000\t0x00000000\t0x00000000
0x40:\t0x6c696174\t0x20666f20\t0x21217469\t0x00001000
",
    ),
];

#[test]
fn what_tools_print_is_read() {
    for (command, text) in PRINTED {
        let dump = read(text);
        assert_eq!(dump.bytes, sample(), "{command}: {:?}", said(&dump));
        assert!(dump.findings.is_empty(), "{command}: {:?}", said(&dump));
        let is_array = *command == "xxd -i";
        assert_eq!(dump.form == Some(DumpForm::C), is_array, "{command}");
        assert_eq!(dump.numbering, None);
        // The same with the line ends of other systems, and without the last one.
        let other = text.trim_end().replace('\n', "\r\n");
        assert_eq!(read(&other).bytes, sample(), "{command}");
    }
}

#[test]
fn digits_alone_are_bytes_in_order_and_groups_of_words_are_little_endian() {
    for (text, expected) in [
        ("7f00003c00", &[0x7f, 0, 0, 0x3c, 0][..]),
        ("7f 00 00 3C", &[0x7f, 0, 0, 0x3c]),
        ("\\x7f\\x00\\x00\\x3c", &[0x7f, 0, 0, 0x3c]),
        ("0x3c00007f", &[0x7f, 0, 0, 0x3c]),
        ("3c00007f 00001000", &[0x7f, 0, 0, 0x3c, 0, 0x10, 0, 0]),
        ("0x3c00007f, 4096", &[0x7f, 0, 0, 0x3c, 0, 0x10, 0, 0]),
        ("0x7f, 0x3c", &[0x7f, 0x3c]),
        ("# a remark\n7f\n\n3c\n", &[0x7f, 0x3c]),
        // As gdb prints the addresses of a program's variables.
        (
            "0x7f10 <qmd>:\t0x3c00007f\n0x7f14 <qmd+4>:\t0x00001000\n",
            &[0x7f, 0, 0, 0x3c, 0, 0x10, 0, 0],
        ),
    ] {
        assert_eq!(read(text).bytes, expected, "{text}");
    }
}

#[test]
fn the_elements_of_an_array_are_as_wide_as_their_type_or_their_digits() {
    for (text, expected) in [
        (
            "uint32_t qmd[] = {0x7f, 1,};",
            &[0x7f, 0, 0, 0, 1, 0, 0, 0][..],
        ),
        (
            "const unsigned q[2] = { 0x7fU, 0x1UL };",
            &[0x7f, 0, 0, 0, 1, 0, 0, 0],
        ),
        ("unsigned short q[] = { 1, 0x203 };", &[1, 0, 3, 2]),
        (
            "unsigned long long q[] = { 0x7f };",
            &[0x7f, 0, 0, 0, 0, 0, 0, 0],
        ),
        ("{ 0x0000007f, 0x00000001 }", &[0x7f, 0, 0, 0, 1, 0, 0, 0]),
        ("{ 0x7f, 0x01 }", &[0x7f, 1]),
        ("{ 0x007f, 0x0001 }", &[0x7f, 0, 1, 0]),
        // Of several lengths they are words.
        ("{ 0x0, 0x7f }", &[0, 0, 0, 0, 0x7f, 0, 0, 0]),
        (
            "/* word: 0 */ int q[] = { // {1\n 2, /* 3, / */ 4 };",
            &[2, 0, 0, 0, 4, 0, 0, 0],
        ),
    ] {
        let dump = read(text);
        assert_eq!(dump.bytes, expected, "{text}");
        assert_eq!(dump.form, Some(DumpForm::C));
        assert!(dump.findings.is_empty(), "{text}: {:?}", said(&dump));
    }
    for text in [
        "let qmd: [u32; 2] = [\n    0x7f, 1];",
        "qmd = [0x0000007f, 0x00000001]",
        "[127, 1]",
        "uint8_t one = 1;\nuint32_t qmd[] =\n{\n0x7f, 1 };",
    ] {
        let dump = read(text);
        assert_eq!(dump.bytes, [0x7f, 0, 0, 0, 1, 0, 0, 0], "{text}");
        assert!(dump.findings.is_empty(), "{text}: {:?}", said(&dump));
    }
    let dump = read("uint8_t a[] = {\n 1, 256,\n x, 2\n");
    assert_eq!(dump.bytes, [1, 0, 2]);
    assert_eq!(
        said(&dump),
        [
            "line 2: the number is too large for the array; cut off",
            "line 3: not a number; left out",
            "line 4: the array does not end"
        ]
    );
    let dump = read("char a[] = {1};\nchar b[] = {2};");
    assert_eq!(dump.bytes, [1]);
    assert_eq!(said(&dump).len(), 1);
}

/// What the shim of the walk-through article prints of a burst at word 12 of a mapping: the header, and `words`, counted from 1.
fn burst(words: &[u32]) -> String {
    let mut text = format!(
        "\n=== [Shim] Dump of Mapped Pushbuffers ===\n\
         Mapping 3: /dev/nvidia0, at 0x7f2a40000000 (4096 bytes), offset 0x0\n  \
         [+] Method burst at word 12: header = 0x{:08X}\n      INC, count {}, offset 0x0318\n",
        (1 << 29) | (words.len() << 16) | (1 << 13) | (0x318 / 4),
        words.len()
    );
    for (i, word) in words.iter().enumerate() {
        text += &format!("      word {:02}: 0x{word:08X}\n", i + 1);
    }
    text
}

/// The two address words of 0x7400001100, in units of 256, and 64 words of which words 12 and 18 are those of the article.
fn launched() -> Vec<u32> {
    let mut words = vec![0x0, 0x7400_0011];
    words.extend([0; 64]);
    words[2 + 12] = 0x1000;
    words[2 + 18] = 0x0100_0030;
    words
}

#[test]
fn bursts_of_descriptors_are_read_as_they_are_printed() {
    let words = launched();
    let expected: Vec<u8> = words[2..]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let dump = read(&burst(&words));
    assert_eq!(dump.bytes, expected);
    assert_eq!(dump.form, Some(DumpForm::Words));
    assert_eq!(dump.numbering, Some(1));
    assert_eq!(dump.bursts.len(), 1);
    assert_eq!(dump.bursts[0].line, 4);
    // INC, 66 words, subchannel 1, method 0x318
    assert_eq!(dump.bursts[0].header, Some(0x2042_20c6));
    assert_eq!(dump.bursts[0].address, Some(0x74_0000_1100));
    assert_eq!(dump.bursts[0].bytes, expected);
    let notes: Vec<_> = dump.findings.iter().map(|f| f.severity).collect();
    assert_eq!(notes, [Severity::Note], "{:?}", said(&dump));

    // The lines of words alone are the same.
    let text = burst(&words);
    let alone = &text[text.find("      word").unwrap()..];
    let dump = read(alone);
    assert_eq!(dump.bytes, expected);
    assert_eq!(dump.bursts[0].address, Some(0x74_0000_1100));
    assert_eq!(dump.bursts[0].header, None);
    // On Blackwell bit 30 of the first word says that 384 bytes follow.
    let mut words = launched();
    words[0] |= 1 << 30;
    words.extend([7; 32]);
    let dump = read(&burst(&words));
    assert_eq!(dump.bytes.len(), 384);
    assert_eq!(dump.bursts[0].address, Some(0x74_0000_1100));
    // A burst that is cut off, and another one behind it.
    let text = burst(&launched());
    let cut = &text[..text.find("word 60").unwrap()];
    let dump = read(&format!("{cut}\n{text}"));
    assert_eq!(dump.bursts.len(), 2);
    assert_eq!(dump.bursts[0].bytes.len(), (59 - 2) * 4);
    let both = dump.bursts.iter().flat_map(|burst| burst.bytes.clone());
    assert_eq!(dump.bytes, both.collect::<Vec<_>>());
    assert_eq!(dump.bursts[1].bytes, expected);
    let address =
        "the first two words are the address that the descriptor is written to, not a part of it";
    // The cut text has 4 lines ahead of the burst's first word and 59 words; an empty line and 3 lines follow ahead of the next burst.
    let line = 5 + 59 + 1 + 4;
    let expected = [
        "line 4: the burst has 66 words, 59 are there".to_owned(),
        format!("line 4: {address}"),
        format!("line {line}: {address}"),
        format!("line {line}: another burst, which is a descriptor of its own"),
    ];
    assert_eq!(said(&dump), expected);
    // Findings are at the beginning of their line.
    let both = format!("{cut}\n{text}");
    let last = dump
        .findings
        .iter()
        .last()
        .and_then(|finding| finding.offset);
    let begin: usize = both
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    assert_eq!(last, Some(begin as u64));
    // Words ahead of a burst are not the descriptor whose address the burst has.
    let dump = read(&format!("word 0: 0x1\n{text}"));
    assert_eq!(dump.bytes, dump.bursts[0].bytes);
    assert!(
        said(&dump)
            .iter()
            .any(|said| said.starts_with("line 5: the words ahead of this burst")),
        "{:?}",
        said(&dump)
    );
}

/// A shim's lines without the first two: the numbers go on to 66, so that words 3 to 66 are the descriptor's.
#[test]
fn bursts_without_their_address_are_descriptors() {
    let words = launched();
    let expected: Vec<u8> = words[2..].iter().flat_map(|w| w.to_le_bytes()).collect();
    let text = burst(&words);
    let alone = text[text.find("      word 03").unwrap()..].to_owned();
    let header = text[..text.find("      word 01").unwrap()].to_owned() + &alone;
    for text in [&alone, &header] {
        for numbering in [None, Some(1)] {
            let dump = dump::read(text, numbering, None);
            assert_eq!(dump.bytes, expected);
            assert_eq!(dump.numbering, Some(1));
            assert_eq!(dump.bursts[0].address, None);
            assert!(
                said(&dump).last().unwrap().contains("are not there"),
                "{:?}",
                said(&dump)
            );
        }
    }
    // Counted from 0 three words are missing.
    let dump = dump::read(&alone, Some(0), None);
    assert_eq!(dump.bytes.len(), 67 * 4);
    // Of another length they are no burst.
    assert_eq!(read("word 3: 0x1\nword 4: 0x2\n").bytes.len(), 20);
}

/// A word that is 0x1000 as a number, and one with letters; what xxd prints of them in both orders. The first line's characters are
/// only dots: another line tells how it is to be read.
#[test]
fn one_line_tells_the_order_of_bytes_for_all() {
    let dots = "00000000: 00100000 00010000  ........\n";
    for (other, order, bytes) in [
        (
            "00000008: 41424344 00000000  ABCD....\n",
            ByteOrder::Big,
            [0, 0x10, 0, 0],
        ),
        (
            "00000008: 44434241 00000000  ABCD....\n",
            ByteOrder::Little,
            [0, 0, 0x10, 0],
        ),
    ] {
        for text in [
            format!("{dots}{other}"),
            format!("{other}{}", dots.replace("00:", "10:")),
        ] {
            let dump = read(&text);
            let at = if text.starts_with(dots) {
                0
            } else {
                dump.bytes.len() - 8
            };
            assert_eq!(dump.bytes[at..at + 4], bytes, "{text}");
            assert_eq!(dump.order.unwrap().0, order);
        }
    }
    // Nothing tells: it is said which order was taken, and the other one can be chosen.
    let dump = read(dots);
    assert_eq!(dump.bytes, [0, 0, 0x10, 0, 0, 0, 1, 0]);
    assert_eq!(said(&dump).len(), 1);
    assert!(said(&dump)[0].contains("little-endian is taken"));
    let dump = dump::read(dots, None, Some(ByteOrder::Big));
    assert_eq!(dump.bytes, [0, 0x10, 0, 0, 0, 1, 0, 0]);
    assert!(dump.findings.is_empty());
    // Where both orders are the same bytes there is nothing to say.
    let dump = read("00000000: 00000000 11111111  ........\n");
    assert!(dump.findings.is_empty() && dump.order.is_none());
    // Lines that say different orders; more of them say little.
    let little = "00000008: 44434241 00000000  ABCD....\n";
    let text = format!(
        "00000000: 41424344 00100000  ABCD....\n{little}{}",
        little.replace("08:", "10:")
    );
    let dump = read(&text);
    assert_eq!(dump.order.unwrap().0, ByteOrder::Little);
    assert_eq!(
        said(&dump),
        [
            "line 2: from this line on characters say different orders of the bytes in a group; little-endian is taken"
        ]
    );
    assert!(
        dump.findings
            .iter()
            .all(|finding| finding.severity == Severity::Warning)
    );
    // The last group may be shorter: `printf 'ABCDEF' | xxd -g4`.
    assert_eq!(
        read("00000000: 41424344 4546           ABCDEF\n").bytes,
        b"ABCDEF"
    );
    // The last line of `xxd -p` may have as many digits as a word.
    let plain = format!("{}\n00100000\n", "00".repeat(30));
    assert_eq!(read(&plain).bytes[30..], [0, 0x10, 0, 0]);
}

#[test]
fn elements_of_arrays_are_where_their_index_says() {
    let dump = read("uint32_t q[] = { [2] = 0x1000, 7, [0]=1, [ 0x4 ] = 5 };");
    let words: Vec<u8> = [1, 0, 0x1000, 7, 5_u32]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    assert_eq!(dump.bytes, words);
    assert!(dump.findings.is_empty(), "{:?}", said(&dump));
    // C fills an array with zeros up to its size.
    let dump =
        read("static const uint32_t qmd[64] = {\n  [12] = 0x1000,\n  [18] = 0x01000000,\n};");
    assert_eq!(dump.bytes.len(), 256);
    assert_eq!(dump.bytes[48..52], [0, 0x10, 0, 0]);
    assert_eq!(dump.bytes[72..76], [0, 0, 0, 1]);
    assert_eq!(
        dump.findings.iter().map(|f| f.severity).collect::<Vec<_>>(),
        [Severity::Note]
    );
    let dump = read("uint32_t q[99999999999] = { [4194304] = 1, [0] = 2 };");
    assert_eq!(dump.bytes, [1, 0, 0, 0, 2, 0, 0, 0][4..]);
    assert_eq!(
        said(&dump),
        ["line 1: the index is too large; it does not count"]
    );
}

#[test]
fn lines_of_number_and_word_are_counted_words() {
    let list = |from: usize, prefix: &str| -> String {
        let line = |i: usize| format!("{}: {prefix}{:08x},\n", i + from, 0x100 + i);
        (0..64).map(line).collect()
    };
    let expected: Vec<u8> = (0..64_u32)
        .flat_map(|i| (0x100 + i).to_le_bytes())
        .collect();
    for (from, prefix) in [(0, "0x"), (1, "0x"), (0, "")] {
        let dump = read(&list(from, prefix));
        assert_eq!(dump.bytes, expected, "{:?}", said(&dump));
        assert_eq!(
            (dump.form, dump.numbering),
            (Some(DumpForm::Words), Some(from as u32))
        );
        assert!(dump.findings.is_empty());
    }
    // Digits need no zeros ahead, as long as not all could be bytes.
    assert_eq!(
        read("0: 0x0\n1: 0x1000\n").bytes,
        [0, 0, 0, 0, 0, 0x10, 0, 0]
    );
    // Bytes with offsets, and words at offsets of bytes, are none.
    assert_eq!(read("0: 0x7f\n1: 0x3c\n").bytes, [0x7f, 0x3c]);
    assert_eq!(
        read("0: 0x00001000\n4: 0x00000001\n").bytes,
        [0, 0x10, 0, 0, 1, 0, 0, 0]
    );
}

#[test]
fn strings_with_escapes_are_read() {
    for text in [
        r#""\x7f\x00A\n""#,
        r#"const char q[] = "\x7f\x00" "A\n"; // more"#,
        "char q[] = \"\\x7f\\0\"\n  \"A\\n\";",
        r"b'\x7f\x00A\n'",
        r#"{"\177\000A\n"}"#,
    ] {
        let dump = read(text);
        assert_eq!(dump.bytes, b"\x7f\0A\n", "{text}");
        assert_eq!(dump.form, Some(DumpForm::C));
        assert!(dump.findings.is_empty(), "{text}: {:?}", said(&dump));
    }
    // As gdb prints an array of char.
    let dump = read(r#"$1 = "\177\001", '\000' <repeats 4 times>, "\020"..."#);
    assert_eq!(dump.bytes, [0x7f, 1, 0, 0, 0, 0, 0x10]);
    assert_eq!(
        said(&dump),
        ["line 1: the string is cut off where it was printed"]
    );
    let dump = read("a = \"\\x00\n\\q\\777");
    assert_eq!(dump.bytes, b"\0\n77");
    assert_eq!(said(&dump).len(), 3);
    let huge = read(r#""\x00" '\000' <repeats 99999999999999 times>"#);
    assert_eq!(huge.bytes.len(), dump::LIMIT);
}

#[test]
fn words_are_counted_from_0_or_from_1() {
    let list = |from: usize, count: usize| -> String {
        let line = |i: usize| format!("word {}: 0x{:08x}\n", i + from, 0x100 + i);
        (0..count).map(line).collect()
    };
    let expected: Vec<u8> = (0..64_u32)
        .flat_map(|i| (0x100 + i).to_le_bytes())
        .collect();
    for from in [0, 1] {
        let dump = read(&list(from, 64));
        assert_eq!(dump.bytes, expected);
        assert_eq!(dump.numbering, Some(from as u32));
        assert!(dump.findings.is_empty() && dump.bursts.is_empty());
        // Said so, it is the same.
        assert_eq!(
            dump::read(&list(from, 64), Some(from as u32), None).bytes,
            expected
        );
    }
    // Counted from 0 although the first one that is there is word 1.
    let dump = dump::read(&list(1, 63), Some(0), None);
    assert_eq!(dump.bytes.len(), 256);
    assert_eq!(dump.bytes[..8], [0, 0, 0, 0, 0, 1, 0, 0]);
    assert_eq!(
        said(&dump),
        ["line 1: 1 words are missing, the first is word 0; they are zero"]
    );
    // Counted from 1 cannot be where there is a word 0.
    assert_eq!(dump::read(&list(0, 64), Some(1), None).numbering, Some(0));
    // 66 words that are counted from 0 are 66 words.
    assert_eq!(read(&list(0, 66)).bytes.len(), 264);
    assert_eq!(
        read("qmd[1] = 0x2;\nqmd[0] = 0x1;\n").bytes,
        [1, 0, 0, 0, 2, 0, 0, 0]
    );
}

#[test]
fn a_word_may_have_other_text_around_it() {
    for line in [
        "word 0: 0x7f",
        "  Word 00 = 0x0000007F; // x: 3 = 0x4",
        "12:30:01 [info] word 0: 0x7f, the first",
        "qmd[0] -> 0x7f",
        "[ 0]: 0x7f  0x80",
        "dword 0: 0000007f",
    ] {
        assert_eq!(read(line).bytes, [0x7f, 0, 0, 0], "{line}");
    }
    for line in [
        "words: 0x7f",
        "word: 0x7f",
        "word 0 0x7f",
        "word 0: 127",
        "word x: 0x7f",
    ] {
        assert_ne!(read(line).form, Some(DumpForm::Words), "{line}");
    }
}

#[test]
fn words_that_are_missing_twice_or_out_of_order_are_findings() {
    let text =
        "word 0: 0x1\nword 3: 0x4\nword 1: 0x2\nword 3: 0x4\nword 3: 0x5\nword 5: 0x100000000\n";
    let dump = read(text);
    let words: Vec<u8> = [1, 2, 0, 4, 0, 0_u32]
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .collect();
    assert_eq!(dump.bytes, words);
    assert_eq!(
        said(&dump),
        [
            "line 6: more than 32 bits of a word; cut off",
            "line 3: the word is out of order",
            "line 4: the word is there twice",
            "line 5: another value of the word came before, which counts",
            "line 1: 2 words are missing, the first is word 2; they are zero",
        ]
    );
    let offsets: Vec<_> = dump.findings.iter().map(|finding| finding.offset).collect();
    // Lines 1 to 5 have 12 characters each.
    assert_eq!(offsets[..4], [Some(60), Some(24), Some(36), Some(48)]);
    let dump = read("word 4294967295: 0x1\nword 4194304: 0x1\nword 0: 0x1\n");
    assert_eq!(dump.bytes, [1, 0, 0, 0]);
    assert_eq!(said(&dump).len(), 2);
}

#[test]
fn gaps_between_offsets_are_findings() {
    let dump = read("00000010: 01 02 03 04\n00000018: 05\n00000010: 06\nwhatever\n00000019: 0\n");
    assert_eq!(dump.bytes, [1, 2, 3, 4, 0, 0, 0, 0, 5, 6]);
    assert_eq!(
        said(&dump),
        [
            "line 2: 4 bytes before this line are missing; they are zero",
            "line 3: the offset is smaller than where the line before ends; it does not count",
            "line 4: not digits; left out",
            "line 5: the offset is smaller than where the line before ends; it does not count",
            "line 5: an odd number of digits; the last one is left out",
        ]
    );
    let far = read("00000000: 01\nffffffffff: 02\n");
    assert_eq!(far.bytes, [1, 2]);
    // `od -w4 -A x -t x1` of twelve zeros and a word
    let squeezed = read("000000 00 00 00 00\n*\n00000c 01 02 03 04\n000010\n");
    assert_eq!(
        squeezed.bytes,
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
    );
    let squeezed = read(" 01 02\n*\n 03\n");
    assert_eq!(squeezed.bytes, [1, 2, 3]);
    assert!(
        said(&squeezed)[0].contains("no offset says how many"),
        "{:?}",
        said(&squeezed)
    );
}

#[test]
fn what_is_printed_is_read_back() {
    let mut state = 1_u32;
    for length in (0..100).chain([264, 1024]) {
        let random = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let random: Vec<u8> = (0..length).map(random).collect();
        for bytes in [
            random,
            vec![0; length],
            vec![b' '; length],
            vec![b'1'; length],
        ] {
            for form in [DumpForm::Hex, DumpForm::C, DumpForm::Words] {
                let text = dump::print(&bytes, form, "qmd");
                assert!(length == 0 || dump::is_text(text.as_bytes()));
                let dump = read(&text);
                assert_eq!(dump.bytes, bytes, "{text}");
                let expected = usize::from(length == 0);
                assert_eq!(dump.findings.len(), expected, "{text}\n{:?}", said(&dump));
                let is_whole = length % 4 == 0 || form == DumpForm::C;
                if length > 0 && is_whole {
                    assert_eq!(dump.form, Some(form), "{text}");
                }
            }
        }
    }
    let text = dump::print(
        &[
            1, 0, 0, 0, 0, 0x10, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0,
        ],
        DumpForm::C,
        "qmd",
    );
    assert_eq!(
        text,
        "static const uint32_t qmd[5] = {\n    /*   0 */ 0x00000001, 0x00001000, 0x00000003, 0x00000004,\n    /*   4 */ 0x00000005,\n};\n"
    );
    let text = dump::print(b"word\0\xff", DumpForm::Hex, "");
    assert_eq!(
        text,
        "00000000: 77 6f 72 64 00 ff                                word..\n"
    );
}

#[test]
fn any_text_is_read_without_panic() {
    for text in [
        "",
        " ",
        "\n",
        ":",
        "0x",
        "0x:",
        "word",
        "word :",
        "word 1:",
        "word 1: 0x",
        "[",
        "]",
        "]: 0x1",
        "[]=0x1",
        "[1]=0x1",
        "{",
        "}",
        "{}",
        "}{",
        "{1",
        "/*",
        "/* {",
        "{/*",
        "//",
        "*",
        "*\n*\n00000010",
        "Method burst at word",
        "Method burst at word 1: header = 0xZ\nword 1: 0x1",
        "Method burst at word 1: header = 0x20420000\n",
        "0000000: ",
        "|",
        "00 |",
        "é: é",
        "é",
        "word é: 0x1",
        "xword 1: 0x1",
        "éword 1: 0x1",
        "00000000: é  é",
        "18446744073709551615 18446744073709551615",
        "0x10000000000000000",
        "{0x10000000000000000}",
        "word 0: 0x10000000000000000",
        "ffffffffffffffff: 00\n0: 00",
        "00000000  00  >",
        "word 1: 0x1\nword 4194303: 0x1",
        "\"\\x",
        "\"\\",
        "\"\\0\" \"\\é\"",
        "'\\0' <repeats",
        "{[",
        "{[1]",
        "{[1]=",
        "{[18446744073709551615]=1",
        "1:",
        "18446744073709551615: 0x100\n0: 0x100",
        "q[18446744073709551615] = {1}",
    ] {
        let dump = read(text);
        assert!(
            !dump.bytes.is_empty() || dump.findings.has_errors(),
            "{text}"
        );
        assert_eq!(dump.form.is_some(), !dump.bytes.is_empty(), "{text}");
        dump::read(text, Some(1), None);
        dump::read(text, Some(u32::MAX), Some(ByteOrder::Big));
    }
    // Pieces of dumps in any order.
    let pieces = [
        "0",
        "7f",
        "00000010",
        ":",
        " ",
        "  ",
        "\n",
        "0x",
        "word",
        "word 1",
        "[",
        "]",
        "{",
        "}",
        ",",
        "*",
        "|",
        "/*",
        "*/",
        "é",
        "burst at word",
        "\"",
        "\\x",
        "=",
        " <repeats 3",
    ];
    let mut state = 7_usize;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text += pieces[(state >> 33) % pieces.len()];
        }
        read(&text);
    }
}

#[test]
fn text_is_bounded() {
    let long = "00 ".repeat(8 << 20);
    let dump = read(&long);
    assert!(dump.bytes.len() <= dump::LIMIT);
    assert!(said(&dump)[0].contains("16 MiB"), "{:?}", said(&dump));
    // A repeated line that goes on to the end of the world.
    let dump = read("00000000  41 42  |AB|\n*\nffffffff\n");
    assert_eq!(dump.bytes.len(), 2);
    let lines = "x\n".repeat(1 << 20);
    assert!(read(&lines).findings.len() <= 1001);
    let large = "word 4194303: 0x1\nword 0: 0x1\n".repeat(1000);
    assert_eq!(read(&large).bytes.len(), dump::LIMIT);
}

#[test]
fn time_grows_with_the_text() {
    // Quadratic, each of them would take minutes.
    for piece in [
        "[",
        "[1]:",
        "]",
        "//\n",
        "/",
        "/*",
        "word",
        "word 1:",
        "{",
        "}{",
        "1,",
        ":",
        "0 ",
        "  ",
        "*\n",
        "|",
        "[1]: 0x1\n",
        "0x",
        "burst at word\n",
        "\n",
        "1: 0x100\n",
        "[1]=1,",
        "\"\\x0\" ",
        "'\\0' <repeats 9 times> ",
        "0: 00100000  ....\n",
    ] {
        read(&piece.repeat((1 << 20) / piece.len()));
    }
}

#[test]
fn text_is_told_from_bytes() {
    assert!(dump::is_text(b"word 1: 0x1\r\n\t"));
    assert!(!dump::is_text(b""));
    assert!(!dump::is_text(&[0; 256]));
    assert!(!dump::is_text(b"7f \xff"));
}

/// What is said of a dump that is decoded.
fn messages(document: &Document) -> Vec<String> {
    let findings = document.findings().all();
    findings
        .into_iter()
        .map(|finding| finding.message)
        .collect()
}

/// A descriptor of version 03.00, which byte 72 says, with a grid of `width`, as 64 words.
fn descriptor(width: u32) -> Vec<u32> {
    let mut words = vec![0; 64];
    words[12] = width;
    words[18] = 0x0100_0030;
    words
}

#[test]
fn bursts_are_descriptors_of_their_own() {
    let text: String = [4096, 4224]
        .iter()
        .map(|width| burst(&[vec![0, 0x7400_0011], descriptor(*width)].concat()))
        .collect();
    let document = Document::decode(Source::memory(text.clone().into_bytes()), "");
    let dumped = document.dumped().unwrap();
    assert_eq!(dumped.descriptors.len(), 2);
    assert!(
        dumped
            .descriptors
            .iter()
            .all(|found| found.version.key == "03.00")
    );
    let said = messages(&document);
    assert!(!said.iter().any(|said| said.contains("05.01")), "{said:?}");
    // A burst that is cut does not move what is behind it.
    let cut = &text[..text.find("word 60").unwrap()];
    let both = format!(
        "{cut}\n{}",
        burst(&[vec![0, 0x7400_0022], descriptor(128)].concat())
    );
    let document = Document::decode(Source::memory(both.into_bytes()), "");
    let found = &document.dumped().unwrap().descriptors;
    let at = |i: usize| {
        (
            found[i].runs[0].offset,
            found[i].runs[0].size,
            found[i].address,
        )
    };
    assert_eq!(at(0), (0, 57 * 4, Some(0x74_0000_1100)));
    assert_eq!(at(1), (57 * 4, 256, Some(0x74_0000_2200)));
    assert_eq!(found[1].version.key, "03.00");
}

#[test]
fn the_order_of_bytes_is_an_input() {
    let line = |i: usize, group: &[u32]| {
        let group: Vec<_> = group
            .iter()
            .map(|word| format!("{:08x}", word.swap_bytes()))
            .collect();
        format!("{:08x}: {}  ................\n", i * 16, group.join(" "))
    };
    let words = descriptor(0x1000_0000);
    let text: String = words
        .chunks(4)
        .enumerate()
        .map(|(i, group)| line(i, group))
        .collect();
    let input = |inputs: &str| {
        let document = Document::decode(Source::memory(text.clone().into_bytes()), inputs);
        let dumped = document.dumped().unwrap();
        let order = dumped
            .decoded
            .inputs
            .iter()
            .find(|input| input.key == "order")
            .unwrap();
        let bytes = document.source().read_up_to(48, 4).unwrap();
        (order.value.clone(), bytes)
    };
    assert_eq!(input("order=big"), ("big".into(), vec![0, 0, 0, 0x10]));
    assert_eq!(input(""), ("little".into(), vec![0x10, 0, 0, 0]));
}

#[test]
fn long_text_is_read_as_far_as_the_limit_and_that_is_said() {
    // A character of several bytes is cut where reading ends.
    for last in ["", "é"] {
        let mut text = "00 ".repeat(dump::LIMIT / 3);
        text += &"é".repeat(100);
        text += last;
        let document = Document::decode(Source::memory(text.into_bytes()), "as=qmd");
        let said = messages(&document);
        assert!(
            said.iter()
                .any(|said| said.contains("only the first 16 MiB of the text")),
            "{said:?}"
        );
    }
    // As much as the limit is read whole.
    let text = "00\n".repeat(dump::LIMIT / 3) + " ";
    assert_eq!(text.len(), dump::LIMIT);
    assert!(read(&text).findings.is_empty());
}

#[cfg(feature = "cli")]
#[test]
fn a_second_dump_is_a_descriptor_of_its_own() {
    let directory = std::env::temp_dir().join(format!("kernelscope-dump-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, width: u32| {
        let path = directory.join(name);
        let bytes: Vec<u8> = descriptor(width)
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let (first, second) = (write("first", 4096), write("second", 4224));
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_kernelscope"))
        .arg("decode")
        .arg(&first)
        .arg("--with")
        .arg(&second)
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(0), "{text}");
    assert!(text.contains("4224"), "{text}");
    assert!(!text.contains("05.01"), "{text}");
    std::fs::remove_dir_all(directory).unwrap();
}
